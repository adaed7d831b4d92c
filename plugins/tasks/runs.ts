import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { EndListener, Runner } from './definitions.ts'
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

/** Thrown if this process shuts down, or counts as dead: the task belongs to another worker. */
class TaskHandedOver extends Error {
  override readonly name = 'TaskHandedOver'
}

/** Runs tasks in this process. The row of a task decides which worker holds it; the queue only signals when to look. */
export function createRuns (app: FastifyInstance) {
  const closing = new AbortController()
  const listeners: EndListener[] = []
  const fork = () => app.db
  const ownRun = (id: string) => ({ id, status: 'started' as const, worker_id: app.workers.id })

  async function claim (id: string): Promise<Task | null> {
    return await claimTask(app.db, id, app.workers.id) ? await fork().em.findOne(Task, { id }) : null
  }

  /** Ends a task if `worker` still holds it. */
  async function end (id: string, worker: string, status: Task['status'], error: string | null): Promise<void> {
    const db = fork()
    const ended = await db.em.nativeUpdate(Task, { id, status: 'started', worker_id: worker }, {
      status, error: error?.replaceAll('\0', '') ?? null, ended_at: new Date(), end_pending: true, worker_id: app.workers.id
    })
    if (ended === 1) await follow(await db.em.findOneOrFail(Task, { id }))
  }

  async function follow (task: Task): Promise<void> {
    const { id } = task
    for (const listener of listeners) {
      await Promise.resolve(listener(task)).catch((err: unknown) => {
        app.log.error({ err, task: id }, 'a listener for finished tasks failed')
      })
    }
    await fork().em.nativeUpdate(Task, { id }, { end_pending: false }).catch((err: unknown) => {
      app.log.warn({ err, task: id }, 'the listeners of a finished task run again after this worker has ended')
    })
  }

  /** Retries until the end is stored. Otherwise a full database would keep the task, and its lock, forever. */
  async function endAtLast (id: string, status: Task['status'], error: string | null): Promise<void> {
    for (;;) {
      try {
        await end(id, app.workers.id, status, error)
        return
      } catch (err) {
        if (closing.signal.aborted) throw err
        app.log.error({ err, task: id, status }, 'the end of a task could not be stored; the worker tries again')
        await sleep(END_RETRY_MS, undefined, { signal: closing.signal })
      }
    }
  }

  /** Requeues a task. A shutdown is not the task's fault, so it counts no attempt. */
  async function requeue (id: string): Promise<void> {
    await requeueTask(app.db, id, app.workers.id)
  }

  async function checkCancelled (id: string, controller: AbortController): Promise<void> {
    const task = await fork().em.findOne(Task, ownRun(id), { fields: ['cancel_requested'] })
    if (task === null) controller.abort(new TaskHandedOver('The task was given to another worker'))
    else if (task.cancel_requested) controller.abort(new TaskStopped('The task was stopped'))
  }

  function watch (id: string, controller: AbortController): NodeJS.Timeout {
    return setInterval(() => {
      checkCancelled(id, controller).catch((err: unknown) => {
        app.log.warn({ err, task: id }, 'the stop request of a task could not be read')
      })
    }, STOP_POLL_MS)
  }

  /** Returns the final status of a task whose run threw; null if another worker continues it. */
  function explain (err: unknown, task: Task, runner: Runner, signal: AbortSignal) {
    const reason = signal.aborted ? signal.reason as Error : null
    if (reason?.name === 'TaskStopped') return { status: 'stopped' as const, error: null }
    if (reason?.name === 'TaskHandedOver') return null
    if (reason?.name === 'TimeoutError') {
      const seconds = runner.timeoutOf?.(task) ?? runner.timeoutSeconds
      return {
        status: 'failed' as const, error: `The task took longer than ${seconds} s and was ended; raise ${runner.timeoutName}`
      }
    }
    return { status: 'failed' as const, error: err instanceof Error ? err.message : String(err) }
  }

  async function perform (runner: Runner, id: string): Promise<void> {
    if (closing.signal.aborted) return
    const task = await claim(id)
    if (task === null) return
    const stop = new AbortController()
    const timeout = AbortSignal.timeout((runner.timeoutOf?.(task) ?? runner.timeoutSeconds) * 1_000)
    const signal = AbortSignal.any([stop.signal, closing.signal, timeout])
    const timer = watch(id, stop)
    try {
      await runner.run({
        id, payload: task.payload, begun_at: task.started_at ?? task.created_at, signal,
        report: async (meta) => { await fork().em.nativeUpdate(Task, ownRun(id), { meta }) }
      })
      await endAtLast(id, 'finished', null)
    } catch (err) {
      const outcome = explain(err, task, runner, signal)
      if (outcome?.status === 'failed') app.log.error({ err, task: id, title: task.title }, 'task failed')
      if (outcome === null) await requeue(id)
      else await endAtLast(id, outcome.status, outcome.error)
    } finally {
      clearInterval(timer)
    }
  }

  return {
    perform,
    /** Adds a listener that runs after the end of every task. */
    onEnd (listener: EndListener): void { listeners.push(listener) },
    /** Stops accepting tasks, and requeues the running ones. */
    close (): void { closing.abort(new TaskHandedOver('The worker is shutting down')) },

    /** Requeues or gives up tasks that dead workers had started, and runs the listeners for those they had ended. */
    async requeueOrphaned (): Promise<void> {
      const db = fork()
      const dead = { $nin: [...await app.workers.listAlive(), app.workers.id] }
      for (const task of await db.em.find(Task, { end_pending: true, worker_id: dead })) {
        const pending = { id: task.id, end_pending: true, worker_id: task.worker_id }
        const requeued = await db.em.nativeUpdate(Task, pending, { worker_id: app.workers.id })
        if (requeued === 1) await follow(task)
      }
      const orphaned = await db.em.find(Task, { status: 'started', worker_id: dead })
      for (const { id, attempts, worker_id: worker } of orphaned) {
        if (worker === null || worker === undefined) continue
        if (attempts >= ATTEMPTS_MAX) {
          await end(id, worker, 'failed', `The task was abandoned, because ${attempts} workers crashed while it ran; see the log of the server`)
        } else {
          await db.em.nativeUpdate(Task, { id, status: 'started', worker_id: worker }, { status: 'queued', worker_id: null })
        }
      }
    }
  }
}
export type Runs = ReturnType<typeof createRuns>
