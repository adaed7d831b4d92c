import { randomUUID } from 'node:crypto'
import { UniqueConstraintViolationException } from '@mikro-orm/core'
import { Value } from '@sinclair/typebox/value'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../../core/config/config.ts'
import type { Db } from '../../core/database/db.ts'
import { conflict, notFound } from '../../core/errors.ts'
import { readUuid } from '../../core/web/reference.ts'
import { tasksConfig } from './config.ts'
import { createCatalogue } from './catalogue.ts'
import type { Runner, StartOptions } from './definitions.ts'
import { Task } from './entities.ts'
import { createRuns } from './runs.ts'
import { type TaskGroups, TaskGroupsSchema } from './schemas.ts'

export type { TaskDefinition, TaskRun } from './definitions.ts'

/** The queue of all tasks in the catalogue. Other tasks are in the queue of their type. */
const TASK_QUEUE = 'tasks'
const CONCURRENCY = 2
const CATALOGUE_QUEUE = 'task-catalogue'
const CATALOGUE_MS = 5_000
/** Minimum time for which ended tasks are stored, although they are listed for less. */
const KEPT_SECONDS = 7 * 86_400

const queueOf = (task: Task) => task.task_key === null || task.task_key === undefined ? task.type : TASK_QUEUE
const priorityOf = (task: Task) => typeof task.payload.priority === 'number' ? task.payload.priority : 0

export function createTasks (app: FastifyInstance, config: Config) {
  const runs = createRuns(app)
  const fork = () => app.db

  /** Queues a task. The database enforces the lock, so of many concurrent calls exactly one succeeds. */
  async function start (options: StartOptions): Promise<Task> {
    const db = fork()
    const task = db.em.create(Task, {
      id: randomUUID(), title: options.title, type: options.type, task_key: options.task_key ?? null,
      payload: options.payload, lock: options.lock ?? null, user_id: options.user_id ?? null
    })
    try {
      await db.em.persist(task).flush()
    } catch (err) {
      if (err instanceof UniqueConstraintViolationException) throw conflict(options.lockedMessage)
      throw err
    }
    await app.jobs.send(options.queue, { task_id: task.id }, { id: task.id, priority: options.priority ?? 0 })
    return task
  }

  function addRunner (queue: string, runner: Runner): void {
    app.jobs.define<{ task_id: string }>(queue, {
      concurrency: runner.concurrency,
      timeoutSeconds: runner.timeoutSeconds,
      run: async ({ task_id: id }) => {
        await runs.perform(runner, id)
        return null
      }
    })
  }

  const catalogue = createCatalogue(app, (definition, args, userId) => start({
    queue: TASK_QUEUE,
    title: definition.title,
    type: definition.type,
    task_key: definition.name,
    payload: args,
    lock: definition.isSingle ? `task:${definition.name}` : null,
    lockedMessage: `${definition.title} is already queued or running`,
    user_id: userId
  }))
  const timeoutOf = (task: Task) =>
    Math.max(tasksConfig.of(config).timeout_seconds, catalogue.find(task.task_key)?.timeoutSeconds ?? 0)
  addRunner(TASK_QUEUE, {
    concurrency: CONCURRENCY,
    timeoutName: 'TASK_TIMEOUT',
    timeoutSeconds: Math.max(tasksConfig.of(config).timeout_seconds, 86_400),
    timeoutOf,
    run: async (run) => {
      const task = await fork().em.findOneOrFail(Task, { id: run.id })
      const definition = catalogue.find(task.task_key)
      if (definition === undefined) throw notFound(`There is no task '${task.task_key}' in this release`)
      await definition.run(run)
    }
  })

  app.jobs.define(CATALOGUE_QUEUE, {
    concurrency: 1,
    timeoutSeconds: CATALOGUE_MS / 1_000,
    run: async () => catalogue.list()
  })

  /** @throws ApiError NOT_FOUND */
  async function get (db: Db, id: string): Promise<Task> {
    const uuid = readUuid(id)
    const task = uuid === null ? null : await db.em.findOne(Task, { id: uuid })
    if (task === null) throw notFound(`Task with ID '${id}' not found`)
    return task
  }

  return {
    addRunner,
    start,
    onEnd: runs.onEnd,
    stopAll: runs.close,
    define: catalogue.define,
    schedule: catalogue.schedule,
    list: catalogue.list,

    /**
     * Lists tasks by the settings of the scan worker, which may differ from those of a command.
     *
     * @throws ApiError UNAVAILABLE without a scan worker
     */
    async listOfServer (): Promise<TaskGroups> {
      await app.workers.requireScanWorker()
      return Value.Parse(TaskGroupsSchema, await app.jobs.request(CATALOGUE_QUEUE, {}, CATALOGUE_MS))
    },
    run: catalogue.run,
    startByItself: catalogue.startAutomatically,

    /** Recovers tasks of dead workers, and tasks whose row was stored but which never reached the queue. */
    async recover (): Promise<void> {
      await runs.requeueOrphaned()
      const db = fork()
      for (const task of await db.em.find(Task, { status: 'queued' }, { orderBy: { created_at: 'asc' } })) {
        await app.jobs.send(queueOf(task), { task_id: task.id }, { id: task.id, priority: priorityOf(task) })
      }
      const seconds = Math.max(tasksConfig.of(config).result_ttl_seconds, KEPT_SECONDS)
      await db.em.nativeDelete(Task, { ended_at: { $lt: new Date(Date.now() - seconds * 1_000) } })
    },

    get,

    /** Lists running, waiting, finished and failed tasks, newest first. */
    async listRuns (db: Db): Promise<Task[]> {
      const since = new Date(Date.now() - tasksConfig.of(config).result_ttl_seconds * 1_000)
      const tasks = await db.em.find(Task, {
        $or: [{ status: ['queued', 'started'] }, { status: ['finished', 'failed'], ended_at: { $gt: since } }]
      })
      const time = (task: Task) => (task.started_at ?? task.enqueued_at).getTime()
      return tasks.sort((a, b) => time(b) - time(a))
    },

    /**
     * Drops a waiting task, or asks a running one to stop.
     *
     * @throws ApiError NOT_FOUND, or CONFLICT if it has ended
     */
    async stopOne (id: string): Promise<void> {
      const db = fork()
      const { id: uuid } = await get(db, id)
      const dropped = await db.em.nativeUpdate(Task, { id: uuid, status: ['queued', 'scheduled'] },
        { status: 'canceled', ended_at: new Date() })
      if (dropped === 1) return
      const updated = await db.em.nativeUpdate(Task, { id: uuid, status: 'started' }, { cancel_requested: true })
      if (updated === 0) throw conflict(`Task '${id}' has already ended`)
    },

    /**
     * Drops waiting tasks of a type, including delayed ones, and asks running ones to stop.
     *
     * @returns the number of these tasks
     */
    async stop (type: Task['type']): Promise<number> {
      const db = fork()
      const dropped = await db.em.nativeUpdate(Task,
        { type, $or: [{ task_key: null, status: 'queued' }, { status: 'scheduled' }] },
        { status: 'canceled', ended_at: new Date() })
      const updated = await db.em.nativeUpdate(Task, { type, task_key: null, status: 'started' }, { cancel_requested: true })
      return dropped + updated
    }
  }
}
