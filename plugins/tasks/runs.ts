import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { databaseDate } from '../../core/database/clock.ts'
import { type EndListener, type Runner, TaskHandedOver } from './definitions.ts'
import { Task } from './entities.ts'
import { claimTask, requeueTask } from './rows.ts'

/** Interval at which a run checks for a stop. */
const STOP_POLL_MS = 400
/** Delay before the end of a task is stored again after the database refused it. */
const END_RETRY_MS = 5_000
/** A task is given up after its worker died this often. */
const ATTEMPTS_MAX = 3

/** Thrown if a person stopped the task. */
class TaskStopped extends Error {
  override readonly name = 'TaskStopped'
}

/** Returns the final status of a task whose run threw; null if another worker continues it. */
function explain (err: unknown, task: Task, runner: Runner, signal: AbortSignal) {
  const reason = signal.aborted ? signal.reason as Error : null
  if (reason?.name === 'TaskStopped') return { status: 'stopped' as const, error: null }
  if (reason?.name === 'TaskHandedOver' || (reason === null && err instanceof TaskHandedOver)) return null
  if (reason?.name === 'TimeoutError') {
    const seconds = runner.timeoutOf?.(task) ?? runner.timeoutSeconds
    return {
      status: 'failed' as const, error: `The task took longer than ${seconds} s and was ended; raise ${runner.timeoutName}`
    }
  }
  return { status: 'failed' as const, error: err instanceof Error ? err.message : String(err) }
}

/** Runs tasks in this process. The row of a task decides which worker holds it; the queue only signals when to look. */
export class TaskRuns {
  readonly #app: FastifyInstance
  readonly #closing = new AbortController()
  readonly #listeners: EndListener[] = []

  constructor (app: FastifyInstance) {
    this.#app = app
  }

  /** Runs a task, if no other worker has it. */
  async perform (runner: Runner, id: string): Promise<void> {
    if (this.#closing.signal.aborted) return
    const task = await this.#claim(id)
    if (task === null) return
    const stop = new AbortController()
    const timeout = AbortSignal.timeout((runner.timeoutOf?.(task) ?? runner.timeoutSeconds) * 1_000)
    const signal = AbortSignal.any([stop.signal, this.#closing.signal, timeout])
    const timer = this.#watch(id, stop)
    try {
      await runner.run({
        id, payload: task.payload, user_id: task.user_id ?? null, begun_at: task.started_at ?? task.created_at, signal,
        report: async (meta) => { await this.#app.db.em.nativeUpdate(Task, this.#ownRun(id), { meta }) }
      })
      await this.#endAtLast(id, 'finished', null)
    } catch (err) {
      const outcome = explain(err, task, runner, signal)
      if (outcome?.status === 'failed') this.#app.log.error({ err, task: id, title: task.title }, 'task failed')
      if (outcome === null) await this.#requeue(id)
      else await this.#endAtLast(id, outcome.status, outcome.error)
    } finally {
      clearInterval(timer)
    }
  }

  /** Adds a listener that runs after the end of every task. */
  onEnd (listener: EndListener): void {
    this.#listeners.push(listener)
  }

  /** Stops accepting tasks, and requeues the running ones. */
  close (): void {
    this.#closing.abort(new TaskHandedOver('The worker is shutting down'))
  }

  /** Requeues or gives up tasks that dead workers had started, and runs the listeners for those they had ended. */
  async requeueOrphaned (): Promise<void> {
    const db = this.#app.db
    const dead = { $nin: [...await this.#app.workers.listAlive(), this.#app.workers.id] }
    for (const task of await db.em.find(Task, { end_pending: true, worker_id: dead })) {
      const pending = { id: task.id, end_pending: true, worker_id: task.worker_id }
      const requeued = await db.em.nativeUpdate(Task, pending, { worker_id: this.#app.workers.id })
      if (requeued === 1) await this.#follow(task)
    }
    const orphaned = await db.em.find(Task, { status: 'started', worker_id: dead })
    for (const { id, attempts, worker_id: worker } of orphaned) {
      if (worker === null || worker === undefined) continue
      if (attempts >= ATTEMPTS_MAX) {
        await this.#end(id, worker, 'failed', `The task was abandoned, because ${attempts} workers crashed while it ran; see the log of the server`)
      } else {
        await db.em.nativeUpdate(Task, { id, status: 'started', worker_id: worker }, { status: 'queued', worker_id: null })
      }
    }
  }

  async #claim (id: string): Promise<Task | null> {
    return await claimTask(this.#app.db, id, this.#app.workers.id) ? await this.#app.db.em.findOne(Task, { id }) : null
  }

  /** Ends a task if `worker` still holds it. */
  async #end (id: string, worker: string, status: Task['status'], error: string | null): Promise<void> {
    const db = this.#app.db
    const ended = await db.em.nativeUpdate(Task, { id, status: 'started', worker_id: worker }, {
      status, error: error?.replaceAll('\0', '') ?? null, ended_at: databaseDate(), end_pending: true, worker_id: this.#app.workers.id
    })
    if (ended === 1) await this.#follow(await db.em.findOneOrFail(Task, { id }))
  }

  async #follow (task: Task): Promise<void> {
    const { id } = task
    for (const listener of this.#listeners) {
      await Promise.resolve(listener(task)).catch((err: unknown) => {
        this.#app.log.error({ err, task: id }, 'a listener for finished tasks failed')
      })
    }
    await this.#app.db.em.nativeUpdate(Task, { id }, { end_pending: false }).catch((err: unknown) => {
      this.#app.log.warn({ err, task: id }, 'the listeners of a finished task run again after this worker has ended')
    })
  }

  /** Retries until the end is stored. Otherwise a full database would keep the task, and its lock, forever. */
  async #endAtLast (id: string, status: Task['status'], error: string | null): Promise<void> {
    for (;;) {
      try {
        await this.#end(id, this.#app.workers.id, status, error)
        return
      } catch (err) {
        if (this.#closing.signal.aborted) throw err
        this.#app.log.error({ err, task: id, status }, 'the end of a task could not be stored; the worker tries again')
        await sleep(END_RETRY_MS, undefined, { signal: this.#closing.signal })
      }
    }
  }

  /** Requeues a task. A shutdown is not the task's fault, so it counts no attempt. */
  async #requeue (id: string): Promise<void> {
    await requeueTask(this.#app.db, id, this.#app.workers.id)
  }

  async #checkCancelled (id: string, controller: AbortController): Promise<void> {
    const task = await this.#app.db.em.findOne(Task, this.#ownRun(id), { fields: ['cancel_requested'] })
    if (task === null) controller.abort(new TaskHandedOver('The task was given to another worker'))
    else if (task.cancel_requested) controller.abort(new TaskStopped('The task was stopped'))
  }

  #watch (id: string, controller: AbortController): NodeJS.Timeout {
    return setInterval(() => {
      this.#checkCancelled(id, controller).catch((err: unknown) => {
        this.#app.log.warn({ err, task: id }, 'the stop request of a task could not be read')
      })
    }, STOP_POLL_MS)
  }

  /** Returns the condition that this process still holds the task. */
  #ownRun (id: string) {
    return { id, status: 'started' as const, worker_id: this.#app.workers.id }
  }
}
