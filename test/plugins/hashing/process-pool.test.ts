import { pathToFileURL } from 'node:url'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { DEFAULT_LIMITS } from '../../../core/archives/limits.ts'
import { ProcessPool } from '../../../plugins/hashing/threads/process-pool.ts'
import type { Job } from '../../../plugins/hashing/threads/protocol.ts'

/** Answers every job with its path, but dies of certain paths, along with its other jobs. */
const SCRIPT = `
  process.send([])
  process.on('disconnect', () => { process.exit(0) })
  process.on('message', ({ jobs }) => {
    const paths = jobs.map(({ job }) => job.files[0].path)
    if (paths.includes('killed')) process.kill(process.pid, 'SIGKILL')
    else if (paths.includes('bomb')) process.exit(12)
    else if (!paths.includes('hang')) process.send(jobs.map(({ id }, at) => ({ id, result: { kind: 'file', hashes: { crc_hash: paths[at] } } })))
  })
`

function createPool (t: Test, script = SCRIPT): ProcessPool {
  const pool = new ProcessPool(1, pathToFileURL(join(t.testdir({ 'child.mjs': script }), 'child.mjs')))
  t.teardown(() => pool.close())
  return pool
}

function jobOf (path: string): Job {
  return { kind: 'file', files: [{ path }], settings: { excluded: {}, limits: DEFAULT_LIMITS, members: 'all' } }
}

t.test('V16: a file that crashes the process fails alone', async (t) => {
  const pool = createPool(t)
  const settled = await Promise.allSettled(['a', 'killed', 'b', 'bomb', 'c'].map((path) => pool.run(jobOf(path))))
  t.match(settled, [
    { value: { hashes: { crc_hash: 'a' } } },
    { reason: { code: 'ERR_HASH_CRASH', message: "'killed' could not be hashed: the process that read it ended with SIGKILL" } },
    { value: { hashes: { crc_hash: 'b' } } },
    { reason: { code: 'ERR_HASH_CRASH', message: /'bomb' could not be hashed: reading it takes more than \d+ MiB of memory/ } },
    { value: { hashes: { crc_hash: 'c' } } }
  ])
})

t.test('a process that cannot start does not blame the file', async (t) => {
  const pool = createPool(t, 'process.exit(1)')
  await t.rejects(pool.run(jobOf('a')), { code: undefined, message: /could not be started: .* code 1/ })
})

t.test('an abort and the close of the pool reject jobs at once', async (t) => {
  const pool = createPool(t)
  const ending = new AbortController()
  const given = pool.run(jobOf('hang'), ending.signal)
  ending.abort()
  await t.rejects(given, { name: 'AbortError' })
  const late = t.rejects(pool.run(jobOf('hang')), { message: /closed before/ })
  await pool.close()
  await late
})
