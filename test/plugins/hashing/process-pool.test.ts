import { pathToFileURL } from 'node:url'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { DEFAULT_LIMITS } from '../../../core/archives/limits.ts'
import { canConfine } from '../../../core/loader/process/node-level.ts'
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
  const folder = t.testdir({ 'child.mjs': script })
  const pool = new ProcessPool(1, [folder], pathToFileURL(join(folder, 'child.mjs')))
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
    { reason: { code: 'ERR_HASH_CRASH', message: /'bomb' could not be hashed: reading it needs more than \d+ MiB of memory/ } },
    { value: { hashes: { crc_hash: 'c' } } }
  ])
})

t.test('a prepared process starts threads with it and runs the first job', async (t) => {
  const script = `
    process.send([])
    process.on('message', ({ jobs }) => {
      process.send(jobs.map(({ id }) => ({ id, result: { kind: 'file', hashes: { crc_hash: process.argv[3] + ' ' + process.pid } } })))
    })
  `
  const pool = createPool(t, script)
  pool.prepare()
  pool.prepare()
  const first = await pool.run(jobOf('a'))
  t.match(first, { hashes: { crc_hash: /^1 \d+$/ } })
  t.strictSame(await pool.run(jobOf('b')), first, 'by one process')
  t.match(await createPool(t, script).run(jobOf('a')), { hashes: { crc_hash: /^0 / } }, 'without preparation')
  await pool.close()
  pool.prepare()
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

t.test('the process and its threads write nothing and start no programs', {
  skip: canConfine() ? false : 'this Node confines nothing'
}, async (t) => {
  const script = `
    import { Worker } from 'node:worker_threads'
    import { threadFlags } from ${JSON.stringify(new URL('../../../plugins/hashing/threads/thread-flags.ts', import.meta.url).href)}
    const inThread = \`
      const { parentPort, Worker } = require('node:worker_threads')
      const attempts = {
        read: () => require('node:fs').readFileSync('/etc/hostname'),
        write: () => require('node:fs').writeFileSync(__dirname + '/new', ''),
        program: () => require('node:child_process').execFileSync('true'),
        thread: () => new Worker('', { eval: true, execArgv: [] }),
        database: () => require('node:sqlite')
      }
      parentPort.postMessage(Object.entries(attempts).map(([name, attempt]) => {
        try { attempt() } catch (err) { return name + ' ' + err.code }
        return name + ' worked'
      }))
    \`
    process.send([])
    process.on('message', ({ jobs: [{ id }] }) => {
      const thread = new Worker(inThread, { eval: true, execArgv: threadFlags() })
      thread.on('message', (outcome) => process.send([{ id, result: { kind: 'file', hashes: { outcome } } }]))
    })
  `
  t.match(await createPool(t, script).run(jobOf('a')), {
    hashes: {
      outcome: [
        'read ERR_ACCESS_DENIED', 'write ERR_ACCESS_DENIED', 'program ERR_ACCESS_DENIED', 'thread ERR_ACCESS_DENIED',
        'database ERR_UNKNOWN_BUILTIN_MODULE'
      ]
    }
  })
})
