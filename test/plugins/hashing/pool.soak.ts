import t from 'tap'
import { ThreadPool } from '../../../plugins/hashing/threads/pool.ts'
import { DEFAULT_LIMITS } from '../../../core/archives/limits.ts'
import type { Job } from '../../../plugins/hashing/threads/protocol.ts'

/** Answers every job with its path, but ends, hangs or fails at certain paths. */
const THREAD = new URL('data:text/javascript,' + encodeURIComponent(`
  import { parentPort, workerData } from 'node:worker_threads'
  const state = new Int32Array(workerData.shared)
  parentPort.on('message', (jobs) => {
    const results = jobs.map(({ files: [{ path }] }, index) => {
      Atomics.store(state, 0, index)
      if (path === 'exit') process.exit(3)
      if (path === 'throw') throw new Error('broken')
      if (path === 'memory') { const all = []; for (;;) all.push(new Array(100_000).fill(1.5)) }
      while (path === 'hang');
      return { kind: 'file', hashes: { crc_hash: path } }
    })
    parentPort.postMessage(results)
  })
`))

function jobOf (path: string): Job {
  return { kind: 'file', files: [{ path }], settings: { excluded: {}, limits: DEFAULT_LIMITS, members: 'all' } }
}

t.test('a thread that dies fails only its current file and is replaced', async (t) => {
  const pool = new ThreadPool(1, THREAD)
  t.teardown(() => pool.close())
  const paths = ['a', 'exit', 'b', 'throw', 'c', 'memory', 'd']
  const settled = await Promise.allSettled(paths.map((path) => pool.run(jobOf(path))))
  t.match(settled, [
    { value: { hashes: { crc_hash: 'a' } } },
    { reason: { message: /'exit' could not be hashed: the thread ended with code 3/ } },
    { value: { hashes: { crc_hash: 'b' } } },
    { reason: { message: /'throw' could not be hashed: the thread failed: broken/ } },
    { value: { hashes: { crc_hash: 'c' } } },
    { reason: { message: /'memory' could not be hashed: the thread failed: .*memory/ } },
    { value: { hashes: { crc_hash: 'd' } } }
  ])
})

t.test('a thread stuck in a cancelled job is ended, and its other jobs are done', async (t) => {
  const pool = new ThreadPool(1, THREAD)
  t.teardown(() => pool.close())
  const controller = new AbortController()
  const hanging = t.rejects(pool.run(jobOf('hang'), controller.signal), { name: 'AbortError' })
  const next = pool.run(jobOf('next'))
  setImmediate(() => setImmediate(() => controller.abort()))
  await hanging
  t.match(await next, { hashes: { crc_hash: 'next' } })
})
