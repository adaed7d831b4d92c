import { readSteadyClock } from '../../../core/archives/limits.ts'
import type { Job, JobSuccess } from './protocol.ts'
import { TasksBySignal } from './tasks-by-signal.ts'

/** A job that somebody waits for. */
export interface Task {
  readonly id: number
  readonly job: Job
  readonly signal: AbortSignal | undefined
  /** Resolves or rejects the promise of the caller; later calls have no effect. */
  readonly finish: (outcome: { result: JobSuccess } | { error: unknown }) => void
  isFinished: boolean
  /** The time when the caller gave up, in milliseconds of `readSteadyClock`; 0 if it has not. */
  cancelledAt: number
}

export interface JobQueueOptions {
  /** Sends waiting tasks to whoever is idle. */
  dispatch (): void
  /** Cancels tasks that were taken from the queue. Their callers already have the reason. */
  cancel (tasks: readonly Task[]): void
}

/**
 * The jobs of a pool in their order of arrival. p-queue is not used, because many small jobs share one message, and
 * jobs of a dead thread or process return to the front.
 */
export class JobQueue {
  readonly #options: JobQueueOptions
  readonly #bySignal = new TasksBySignal<Task>((tasks, reason) => { this.#cancel(tasks, reason) })
  #waiting: Task[] = []
  #lastId = 0
  #isDispatching = false
  #isClosed = false

  constructor (options: JobQueueOptions) {
    this.#options = options
  }

  get length (): number {
    return this.#waiting.length
  }

  get isClosed (): boolean {
    return this.#isClosed
  }

  /** Queues a job. Rejects with the job's error, the signal's reason, or an error about the end of the queue. */
  add (job: Job, signal?: AbortSignal): Promise<JobSuccess> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) throw new Error('the hasher is closed; create a new one')
      signal?.throwIfAborted()
      const task: Task = {
        id: ++this.#lastId,
        job,
        signal,
        isFinished: false,
        cancelledAt: 0,
        finish: (outcome) => {
          if (task.isFinished) return
          task.isFinished = true
          this.#bySignal.delete(task)
          if ('result' in outcome) resolve(outcome.result)
          else reject(outcome.error instanceof Error ? outcome.error : new Error(String(outcome.error)))
        }
      }
      this.#bySignal.add(task)
      this.#waiting.push(task)
      this.scheduleDispatch()
    })
  }

  /** Removes and returns the next tasks. */
  dequeue (max: number): Task[] {
    return this.#waiting.splice(0, max)
  }

  /** Returns unfinished tasks to the front. */
  requeue (tasks: readonly Task[]): void {
    this.#waiting.unshift(...tasks.filter((task) => !task.isFinished))
  }

  /** Dispatches after the current turn of the event loop, because files requested together are then sent together. */
  scheduleDispatch (): void {
    if (this.#isDispatching) return
    this.#isDispatching = true
    setImmediate(() => {
      this.#isDispatching = false
      if (!this.#isClosed) this.#options.dispatch()
    })
  }

  /** Rejects the waiting tasks and those that were taken. */
  close (taken: Iterable<Task>): void {
    this.#isClosed = true
    const error = new Error('the hasher was closed before the file was hashed')
    for (const task of [...this.dequeue(this.length), ...taken]) task.finish({ error })
  }

  #cancel (tasks: readonly Task[], reason: unknown): void {
    for (const task of tasks) {
      task.cancelledAt = readSteadyClock()
      task.finish({ error: reason })
    }
    this.#waiting = this.#waiting.filter((task) => !task.isFinished)
    this.#options.cancel(tasks)
  }
}
