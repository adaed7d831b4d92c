import { toFields } from '../hash-errors.ts'
import { ThreadPool } from './pool.ts'
import { type FromProcess, type Job, type JobResult, MEMORY_MIB, OUT_OF_MEMORY, type ToProcess } from './protocol.ts'

/** Entry of the process that reads files for their hashes. Its arguments: the threads, and how many start now. */
const MEMORY_WATCH_MS = 100
const [threads, prepared] = process.argv.slice(2).map(Number)
const pool = new ThreadPool(threads ?? 0)
pool.prepare(prepared ?? 0)
const running = new Map<number, AbortController>()
let finished: FromProcess = []

async function run (job: Job, signal: AbortSignal): Promise<JobResult> {
  try {
    return await pool.run(job, signal)
  } catch (error) {
    return { kind: 'error', error: toFields(error) }
  }
}

function answer (id: number, result: JobResult): void {
  running.delete(id)
  // Results of one turn of the event loop are sent together.
  if (finished.push({ id, result }) > 1) return
  setImmediate(() => {
    process.send?.(finished)
    finished = []
  })
}

process.on('message', ({ jobs, cancelled }: ToProcess) => {
  for (const id of cancelled) running.get(id)?.abort()
  for (const { id, job } of jobs) {
    const controller = new AbortController()
    running.set(id, controller)
    void run(job, controller.signal).then((result) => { answer(id, result) })
  }
})
// Ctrl-C in a terminal reaches every process. The parent process decides when this one ends.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
process.on('disconnect', () => { process.exit(0) })
// The heap limit covers neither WebAssembly nor buffers. The threads do the work, and this process has time to check.
setInterval(() => {
  if (process.memoryUsage.rss() > MEMORY_MIB * 1024 ** 2) process.exit(OUT_OF_MEMORY)
}, MEMORY_WATCH_MS).unref()
process.send?.([] satisfies FromProcess)
