import { Worker } from 'node:worker_threads'
import { HashCrashError, toError } from '../hash-errors.ts'
import { readSteadyClock, timeoutWarning } from '../../../core/archives/limits.ts'
import {
  BATCH_JOBS, CANCELLED, createSharedState, DEADLINE, FILE, holdsMemory, IDLE, JOB, releaseMemory,
  type Job, type JobResult, type JobSuccess, type ThreadSettings
} from './protocol.ts'
import { threadFlags } from './thread-flags.ts'
import { JobQueue, type Task } from './job-queue.ts'

const WATCH_INTERVAL_MS = 250
/** The time in which a thread must obey a cancellation or its deadline before it is ended. */
const GRACE_MS = 1000
/** The JavaScript heap of a thread, in MiB; file content lies outside of it. */
const HEAP_MIB = 256
/**
 * The size for new objects, in MiB. Each small file leaves dozens, which the collector of a small nursery moves
 * repeatedly.
 */
const NURSERY_MIB = 24

interface Thread {
  readonly worker: Worker
  readonly number: number
  readonly state: Int32Array
  /** The tasks of the current message; empty if the thread is idle. */
  batch: Task[]
}

/** Runs jobs on a fixed number of threads in their order of arrival, many small ones per message. */
export class ThreadPool {
  readonly #size: number
  readonly #script: URL
  readonly #threads = new Set<Thread>()
  readonly #queue = new JobQueue({ dispatch: () => { this.#dispatch() }, cancel: () => { this.#cancel() } })
  readonly #memoryOwner = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  #started = 0
  #watching: NodeJS.Timeout | undefined

  constructor (size: number, script: URL = new URL('./worker.ts', import.meta.url)) {
    if (!Number.isInteger(size) || size < 1) {
      throw new RangeError(`threads is ${size}; give a whole number of at least 1`)
    }
    this.#size = size
    this.#script = script
  }

  /** Runs a job. Rejects with the job's error, the signal's reason, or an error about the end of its thread. */
  run (job: Job, signal?: AbortSignal): Promise<JobSuccess> {
    return this.#queue.add(job, signal)
  }

  /** Starts threads ahead of their first job. */
  prepare (count: number): void {
    while (this.#threads.size < Math.min(count, this.#size)) this.#startThread().worker.unref()
  }

  async close (): Promise<void> {
    clearInterval(this.#watching)
    const threads = [...this.#threads]
    this.#threads.clear()
    this.#queue.close(threads.flatMap(({ batch }) => batch))
    await Promise.all(threads.map(({ worker }) => worker.terminate()))
  }

  /** Tells the threads which jobs of their batches nobody waits for. */
  #cancel (): void {
    for (const { batch, state } of this.#threads) {
      for (const [index, task] of batch.entries()) {
        if (task.cancelledAt > 0) Atomics.store(state, CANCELLED + index, 1)
      }
    }
  }

  #dispatch (): void {
    while (this.#queue.length > 0 && !this.#queue.isClosed) {
      const thread = this.#idleThread()
      if (!thread) return
      const fairShare = Math.ceil(this.#queue.length / this.#size)
      this.#send(thread, this.#queue.dequeue(Math.min(BATCH_JOBS, fairShare)))
    }
  }

  #idleThread (): Thread | null {
    for (const thread of this.#threads) {
      if (thread.batch.length === 0) return thread
    }
    return this.#threads.size < this.#size ? this.#startThread() : null
  }

  #startThread (): Thread {
    const state = createSharedState()
    const number = ++this.#started
    const workerData: ThreadSettings = { shared: state.buffer, memoryOwner: this.#memoryOwner.buffer, number }
    const worker = new Worker(this.#script, {
      workerData,
      execArgv: threadFlags(),
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB, maxYoungGenerationSizeMb: NURSERY_MIB }
    })
    const thread: Thread = { worker, number, state, batch: [] }
    worker.on('message', (results: JobResult[]) => this.#finishBatch(thread, results))
    worker.on('error', (error: Error) => this.#end(thread, `the thread failed: ${error.message}`))
    worker.on('exit', (code) => this.#end(thread, `the thread ended with code ${code}`))
    this.#threads.add(thread)
    return thread
  }

  #send (thread: Thread, batch: Task[]): void {
    thread.batch = batch
    thread.state.fill(0)
    Atomics.store(thread.state, JOB, IDLE)
    thread.worker.ref()
    thread.worker.postMessage(batch.map(({ job }) => job))
    this.#watching ??= setInterval(() => this.#watch(), WATCH_INTERVAL_MS).unref()
  }

  #finishBatch (thread: Thread, results: readonly JobResult[]): void {
    const { batch } = thread
    thread.batch = []
    thread.worker.unref()
    this.#queue.requeue(batch.slice(results.length))
    // Only the end of the thread frees the memory of a large archive.
    if (holdsMemory(this.#memoryOwner, thread.number)) this.#end(thread, null)
    for (const [index, result] of results.entries()) {
      batch[index]?.finish(result.kind === 'error' ? { error: toError(result.error) } : { result })
    }
    this.#dispatch()
  }

  /** Ends threads that exceed their deadline or continue a cancelled job, such as one stuck in a library. */
  #watch (): void {
    const now = readSteadyClock()
    let isBusy = false
    for (const thread of this.#threads) {
      isBusy ||= thread.batch.length > 0
      const task = thread.batch[Atomics.load(thread.state, JOB)]
      if (!task) continue
      const deadline = Atomics.load(thread.state, DEADLINE) * 1000
      if (deadline > 0 && now > deadline + GRACE_MS) {
        const file = task.job.files[Atomics.load(thread.state, FILE)]
        if (file) file.raw = timeoutWarning(task.job.settings.limits.timeoutMs)
        this.#end(thread, null)
      } else if (task.cancelledAt > 0 && now > task.cancelledAt + GRACE_MS) {
        this.#end(thread, null)
      }
    }
    if (isBusy) return
    clearInterval(this.#watching)
    this.#watching = undefined
  }

  /** Ends a thread and queues its unfinished tasks again. With a `reason`, the current task fails. */
  #end (thread: Thread, reason: string | null): void {
    if (!this.#threads.delete(thread)) return
    const current = reason === null ? null : thread.batch[Math.max(0, Atomics.load(thread.state, JOB))]
    if (current) {
      const path = Buffer.from(current.job.files[Atomics.load(thread.state, FILE)]?.path ?? '').toString()
      current.finish({ error: new HashCrashError(path, reason ?? '') })
    }
    this.#queue.requeue(thread.batch)
    this.#queue.scheduleDispatch()
    const release = () => releaseMemory(this.#memoryOwner, thread.number)
    thread.worker.terminate().then(release, release)
  }
}
