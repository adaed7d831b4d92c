import { randomUUID } from 'node:crypto'
import { UniqueConstraintViolationException } from '@mikro-orm/core'
import type { EntityManager } from '@mikro-orm/postgresql'
import type { TObject } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../../core/config.ts'
import { ApiError, badRequest, conflict, notFound } from '../../core/errors.ts'
import { Task } from './entities.ts'
import type { TaskInfo } from './schemas.ts'

/** What a task sees of its own run. */
export interface TaskRun<Payload = Record<string, unknown>> {
  id: string
  payload: Payload
  /** 1 for the first try; more when a worker died at it. */
  attempt: number
  /** Aborted when a person stops the task, its time is up or the worker shuts down. */
  signal: AbortSignal
  /** Replaces what `GET /api/tasks/{id}` shows as meta. */
  report (meta: Record<string, unknown>): Promise<void>
}

/** An entry of the task catalogue. */
export interface TaskDefinition {
  name: string
  title: string
  description: string
  type: Task['type']
  group: 'scheduled' | 'manual' | 'watcher'
  enabled: boolean
  /** Whether a person may start it. */
  manual_run: boolean
  /** Five fields, UTC; empty when it has no schedule. */
  cron_string: string
  destructive: boolean
  /** Whether it may wait or run only once at a time. */
  isSingle: boolean
  arguments: TObject
  run (run: TaskRun): Promise<void>
}

/** Something a worker can do with rows of one queue. */
export interface Runner {
  timeoutSeconds: number
  run (run: TaskRun): Promise<void>
  /** Told when a run is given up after its worker died too often. */
  onLost? (task: Task): Promise<void>
}

export interface StartOptions {
  queue: string
  title: string
  type: Task['type']
  task_key?: string | null
  payload: Record<string, unknown>
  /** At most one waiting or running task may hold it. */
  lock?: string | null
  lockedMessage: string
  priority?: number
  user_id?: number | null
}

const TASK_QUEUE = 'tasks'
const SCHEDULE_QUEUE = 'schedules'
/** How long a stop may go unnoticed. */
const CANCEL_POLL_MS = 400
/** A task whose worker died this often is given up. */
const ATTEMPTS_MAX = 3
const CONCURRENCY = 2

/** The reason a signal carries when a person stopped the task. */
export class TaskStopped extends Error {
  override readonly name = 'TaskStopped'
}

/** The reason a signal carries when this process is going down; the task is taken up again by another. */
class WorkerClosing extends Error {
  override readonly name = 'WorkerClosing'
}

export function createTasks (app: FastifyInstance, config: Config) {
  const catalogue = new Map<string, TaskDefinition>()
  const runners = new Map<string, Runner>()
  const closing = new AbortController()
  const fork = () => app.orm.em.fork()

  async function claim (id: string): Promise<Task | null> {
    const em = fork()
    const claimed = await em.nativeUpdate(Task, { id, status: 'queued' }, {
      status: 'started', started_at: new Date(), worker_id: app.workers.id
    })
    if (claimed === 0) return null
    await em.execute('update tasks set attempts = attempts + 1 where id = ?', [id])
    return await em.findOne(Task, { id })
  }

  async function end (id: string, status: Task['status'], error: string | null): Promise<void> {
    await fork().nativeUpdate(Task, { id }, { status, error, ended_at: new Date() })
  }

  function watchForStop (id: string, controller: AbortController): NodeJS.Timeout {
    return setInterval(() => {
      fork().count(Task, { id, cancel_requested: true }).then((count) => {
        if (count > 0) controller.abort(new TaskStopped('The task was stopped'))
      }).catch((err: unknown) => { app.log.warn({ err, task: id }, 'a task could not be asked whether it was stopped') })
    }, CANCEL_POLL_MS)
  }

  async function execute (runner: Runner, id: string): Promise<void> {
    const task = await claim(id)
    if (task === null) return
    const stop = new AbortController()
    const signal = AbortSignal.any([stop.signal, closing.signal, AbortSignal.timeout(runner.timeoutSeconds * 1_000)])
    const timer = watchForStop(id, stop)
    try {
      await runner.run({
        id, payload: task.payload, attempt: task.attempts, signal,
        report: async (meta) => { await fork().nativeUpdate(Task, { id }, { meta }) }
      })
      await end(id, stop.signal.aborted ? 'stopped' : 'finished', null)
    } catch (err) {
      if (closing.signal.aborted) {
        await fork().nativeUpdate(Task, { id }, { status: 'queued', worker_id: null })
      } else if (stop.signal.aborted) {
        await end(id, 'stopped', null)
      } else {
        app.log.error({ err, task: id, title: task.title }, 'task failed')
        await end(id, 'failed', err instanceof Error ? err.message : String(err))
      }
    } finally {
      clearInterval(timer)
    }
  }

  /** Queues what a dead worker had begun, and what was written down but never reached the queue. */
  async function recover (): Promise<void> {
    const em = fork()
    const alive = await app.workers.listAlive()
    const begun = await em.find(Task, { status: 'started', worker_id: { $nin: [...alive, app.workers.id] } })
    for (const task of begun) {
      if (task.attempts >= ATTEMPTS_MAX) {
        await end(task.id, 'failed', `Given up after ${task.attempts} workers died at it; see the log of the server`)
        await runners.get(queueOf(task))?.onLost?.(task)
      } else {
        await em.nativeUpdate(Task, { id: task.id, status: 'started' }, { status: 'queued', worker_id: null })
      }
    }
    for (const task of await em.find(Task, { status: 'queued' }, { orderBy: { created_at: 'asc' } })) {
      await app.jobs.send(queueOf(task), { task_id: task.id }, { id: task.id, priority: readPriority(task) })
    }
    await em.nativeDelete(Task, {
      ended_at: { $lt: new Date(Date.now() - Math.max(config.tasks.result_ttl_seconds, 7 * 86_400) * 1_000) }
    })
  }

  const queueOf = (task: Task) => task.task_key === null || task.task_key === undefined ? task.type : TASK_QUEUE
  const readPriority = (task: Task) => typeof task.payload.priority === 'number' ? task.payload.priority : 0

  async function start (options: StartOptions): Promise<Task> {
    const em = fork()
    const task = em.create(Task, {
      id: randomUUID(), title: options.title, type: options.type, task_key: options.task_key ?? null,
      payload: options.payload, lock: options.lock ?? null, user_id: options.user_id ?? null
    })
    try {
      await em.persist(task).flush()
    } catch (err) {
      if (err instanceof UniqueConstraintViolationException) throw conflict(options.lockedMessage)
      throw err
    }
    await app.jobs.send(options.queue, { task_id: task.id }, { id: task.id, priority: options.priority ?? 0 })
    return task
  }

  function addRunner (queue: string, runner: Runner, concurrency: number): void {
    runners.set(queue, runner)
    app.jobs.define<{ task_id: string }>(queue, {
      concurrency,
      timeoutSeconds: runner.timeoutSeconds,
      run: async ({ task_id: id }) => {
        await execute(runner, id)
        return null
      }
    })
  }

  function startDefined (definition: TaskDefinition, args: Record<string, unknown>, userId: number | null) {
    return start({
      queue: TASK_QUEUE,
      title: definition.title,
      type: definition.type,
      task_key: definition.name,
      payload: args,
      lock: definition.isSingle ? `task:${definition.name}` : null,
      lockedMessage: `${definition.title} is already queued or running`,
      user_id: userId
    })
  }

  const toInfo = ({ name, type, title, description, enabled, manual_run: manual, cron_string: cron, destructive }:
  TaskDefinition): TaskInfo => ({
    name, type, title, description, enabled, manual_run: manual, cron_string: cron, destructive
  })

  addRunner(TASK_QUEUE, {
    timeoutSeconds: config.tasks.timeout_seconds,
    run: async (run) => {
      const task = await fork().findOneOrFail(Task, { id: run.id })
      const definition = catalogue.get(task.task_key ?? '')
      if (definition === undefined) throw new Error(`There is no task '${task.task_key}' in this release`)
      await definition.run(run)
    }
  }, CONCURRENCY)

  app.jobs.define<{ name: string }>(SCHEDULE_QUEUE, {
    concurrency: 1,
    timeoutSeconds: 60,
    run: async ({ name }) => {
      const definition = catalogue.get(name)
      // Switched off since it was scheduled, or still at it from last time: both are no reason to run.
      if (definition?.enabled !== true) return null
      await startDefined(definition, {}, null).catch((err: unknown) => {
        if (!(err instanceof ApiError)) throw err
        app.log.info({ task: name, reason: err.message }, 'scheduled task skipped')
      })
      return null
    }
  })

  return {
    /** Adds an entry to the catalogue. */
    define (definition: TaskDefinition): void {
      if (catalogue.has(definition.name)) throw new Error(`Task '${definition.name}' is defined twice`)
      catalogue.set(definition.name, definition)
    },
    addRunner,
    start,
    recover,
    stopAll: () => { closing.abort(new WorkerClosing('The worker is shutting down')) },

    async schedule (): Promise<void> {
      for (const { name, cron_string: cron, enabled, group } of catalogue.values()) {
        if (group === 'scheduled') await app.jobs.schedule(SCHEDULE_QUEUE, name, enabled ? cron : null, { name })
      }
    },

    list () {
      const ofGroup = (group: TaskDefinition['group']) =>
        [...catalogue.values()].filter((definition) => definition.group === group).map(toInfo)
      return { scheduled: ofGroup('scheduled'), manual: ofGroup('manual'), watcher: ofGroup('watcher') }
    },

    /** @throws ApiError NOT_FOUND, BAD_REQUEST, CONFLICT, INVALID or UNAVAILABLE. */
    async run (name: string, args: Record<string, unknown>, userId: number): Promise<Task> {
      const definition = catalogue.get(name)
      if (definition === undefined || definition.group === 'watcher') {
        const names = [...catalogue.values()].filter((entry) => entry.group !== 'watcher').map((entry) => entry.name)
        throw notFound(`Task '${name}' not found. There are: ${names.join(', ')}`)
      }
      if (!definition.manual_run) throw badRequest(`Task '${name}' cannot be run`)
      checkArguments(definition, args)
      if (!await app.workers.isAlive('worker')) {
        throw new ApiError('UNAVAILABLE', 'No scan worker is running; tasks wait for one. Start svc worker.')
      }
      return await startDefined(definition, args, userId)
    },

    async get (em: EntityManager, id: string): Promise<Task> {
      const task = /^[0-9a-f-]{36}$/i.test(id) ? await em.findOne(Task, { id: id.toLowerCase() }) : null
      if (task === null) throw notFound(`Task with ID '${id}' not found`)
      return task
    },

    /** Running, waiting, finished and failed ones, newest first. */
    async listRuns (em: EntityManager): Promise<Task[]> {
      const since = new Date(Date.now() - config.tasks.result_ttl_seconds * 1_000)
      const tasks = await em.find(Task, {
        $or: [{ status: ['queued', 'started'] }, { status: ['finished', 'failed'], ended_at: { $gt: since } }]
      })
      const time = (task: Task) => (task.started_at ?? task.enqueued_at).getTime()
      return tasks.sort((a, b) => time(b) - time(a))
    },

    /**
     * Drops waiting tasks of a type and asks running ones to stop.
     *
     * @returns how many there were
     */
    async stop (type: Task['type']): Promise<number> {
      const em = fork()
      const dropped = await em.nativeUpdate(Task, { type, task_key: null, status: 'queued' },
        { status: 'canceled', ended_at: new Date() })
      const asked = await em.nativeUpdate(Task, { type, task_key: null, status: 'started' }, { cancel_requested: true })
      return dropped + asked
    }
  }
}

function checkArguments (definition: TaskDefinition, args: Record<string, unknown>): void {
  const errors = [...Value.Errors(definition.arguments, args)]
  if (errors.length === 0) return
  throw new ApiError('INVALID', 'Invalid arguments', {
    violations: errors.map((error) => ({
      type: 'value_error', loc: ['body', ...error.path.split('/').slice(1)], msg: error.message, input: error.value
    }))
  })
}
