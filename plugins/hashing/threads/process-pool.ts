import { type ChildProcess, fork } from 'node:child_process'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inheritedFlags } from '../../../core/loader/packages/strip-types.ts'
import { WORKER_FLAGS } from '../../../core/process/node-flags.ts'
import { HashCrashError, toError } from '../hash-errors.ts'
import {
  BATCH_JOBS, type FromProcess, type Job, type JobSuccess, MEMORY_MIB, OUT_OF_MEMORY, type ToProcess
} from './protocol.ts'
import { permissionFlags } from './permissions.ts'
import { JobQueue, type Task } from './job-queue.ts'

/** The threads that start before their first job. The first files of a scan do not keep more threads busy. */
const PREPARED_THREADS = 2

/**
 * Runs jobs in the threads of a separate process, so that a file that crashes its reader does not end the server.
 * After a crash the interrupted jobs run again, one at a time. A job that crashes the process alone fails.
 * The process can read the given folders only, because a file may exploit its reader.
 */
export class ProcessPool {
  readonly #threads: number
  readonly #folders: readonly string[]
  readonly #script: URL
  readonly #running = new Map<number, Task>()
  readonly #queue = new JobQueue({ dispatch: () => { this.#dispatch() }, cancel: (tasks) => { this.#cancel(tasks) } })
  /** The jobs that ran when the process ended. */
  #suspects: Task[] = []
  #child: ChildProcess | null = null

  /** @param folders without symbolic links */
  constructor (threads: number, folders: readonly string[], script: URL = new URL('./process.ts', import.meta.url)) {
    if (!Number.isInteger(threads) || threads < 1) {
      throw new RangeError(`threads is ${threads}; give a whole number of at least 1`)
    }
    this.#threads = threads
    this.#folders = folders
    this.#script = script
  }

  /** Runs a job. Rejects with the job's error, the signal's reason, or a `HashCrashError`. */
  run (job: Job, signal?: AbortSignal): Promise<JobSuccess> {
    return this.#queue.add(job, signal)
  }

  /** Starts the process ahead of its first job, because its start delays the hashes of the first files. */
  prepare (): void {
    if (this.#queue.isClosed) return
    this.#child ??= this.#start(Math.min(this.#threads, PREPARED_THREADS))
    this.#rest()
  }

  async close (): Promise<void> {
    this.#queue.close([...this.#running.values(), ...this.#suspects])
    this.#running.clear()
    this.#suspects = []
    const child = this.#child
    if (child === null || child.exitCode !== null || child.signalCode !== null) return
    child.ref()
    const { promise, resolve } = Promise.withResolvers<void>()
    child.once('exit', () => { resolve() })
    child.kill('SIGKILL')
    await promise
  }

  #cancel (tasks: readonly Task[]): void {
    this.#suspects = this.#suspects.filter((task) => !task.isFinished)
    const ids = tasks.map(({ id }) => id).filter((id) => this.#running.delete(id))
    if (ids.length > 0) this.#send({ jobs: [], cancelled: ids })
    this.#rest()
  }

  #dispatch (): void {
    const tasks = this.#takeNext()
    if (tasks.length === 0) return
    for (const task of tasks) this.#running.set(task.id, task)
    this.#child ??= this.#start()
    this.#child.ref()
    this.#child.channel?.ref()
    this.#send({ jobs: tasks.map(({ id, job }) => ({ id, job })), cancelled: [] })
  }

  /** Returns a suspect alone, or as many tasks as keep the threads busy. */
  #takeNext (): Task[] {
    if (this.#suspects.length > 0) return this.#running.size === 0 ? this.#suspects.splice(0, 1) : []
    return this.#queue.dequeue(Math.max(0, this.#threads * BATCH_JOBS - this.#running.size))
  }

  /** @param prepared the number of threads that start with the process; the others start with their first job */
  #start (prepared = 0): ChildProcess {
    const child = fork(this.#script, [String(this.#threads), String(prepared)], {
      serialization: 'advanced',
      execArgv: [...WORKER_FLAGS, ...inheritedFlags(), ...permissionFlags(this.#folders)],
      // Node lets threads read the working directory, whatever the flags say.
      cwd: dirname(fileURLToPath(this.#script))
    })
    let isReady = false
    child.on('message', (message: FromProcess) => {
      isReady = true
      this.#finish(message)
    })
    // The process ended, or a message could not be sent. The exit handler reports the failure.
    child.on('error', () => {
      if (child.pid === undefined) this.#bury(child, false, 'the system refuses it')
      else child.kill('SIGKILL')
    })
    child.once('exit', (code, signal) => {
      this.#bury(child, isReady, code === OUT_OF_MEMORY
        ? `reading it needs more than ${MEMORY_MIB} MiB of memory`
        : `the process that read it ended with ${signal ?? `code ${code}`}`)
    })
    return child
  }

  #send (message: ToProcess): void {
    this.#child?.send(message, () => { /* The exit handler reports the failure. */ })
  }

  #finish (message: FromProcess): void {
    for (const { id, result } of message) {
      const task = this.#running.get(id)
      if (!this.#running.delete(id) || task === undefined) continue
      task.finish(result.kind === 'error' ? { error: toError(result.error) } : { result })
    }
    this.#rest()
    this.#dispatch()
  }

  /** Lets this process exit while the child is idle. */
  #rest (): void {
    if (this.#running.size > 0 || this.#child === null) return
    this.#child.unref()
    this.#child.channel?.unref()
  }

  #bury (child: ChildProcess, wasReady: boolean, reason: string): void {
    if (this.#queue.isClosed || this.#child !== child) return
    this.#child = null
    const interrupted = [...this.#running.values()]
    this.#running.clear()
    const [onlyTask] = interrupted
    if (!wasReady) {
      // No file caused this.
      for (const task of interrupted) task.finish({ error: new Error(`the process that hashes could not be started: ${reason}`) })
    } else if (onlyTask !== undefined && interrupted.length === 1) {
      onlyTask.finish({ error: new HashCrashError(describeFiles(onlyTask.job), reason) })
    } else {
      this.#suspects.push(...interrupted)
    }
    this.#queue.scheduleDispatch()
  }
}

const describeFiles = ({ files }: Job) => files.map(({ path }) => Buffer.from(path).toString()).join("', '")
