import { randomUUID } from 'node:crypto'
import { UniqueConstraintViolationException } from '@mikro-orm/core'
import { Value } from '@sinclair/typebox/value'
import type { FastifyInstance } from 'fastify'
import type { Context } from '../../core/access/context.ts'
import type { Config } from '../../core/config/config.ts'
import { databaseNow } from '../../core/database/clock.ts'
import type { Db } from '../../core/database/db.ts'
import { toStorable } from '../../core/database/json.ts'
import { conflict, notFound } from '../../core/errors.ts'
import { tasksConfig } from './config.ts'
import { createCatalogue } from './catalogue.ts'
import { type EndListener, type ReportFilter, type Runner, type StartOptions, TASK_QUEUE } from './definitions.ts'
import { Task } from './entities.ts'
import { TaskRuns } from './runs.ts'
import { type TaskGroups, TaskGroupsSchema } from './schemas.ts'
import { getTask, stopTask, stopTasksOf } from './stop-task.ts'

export type { TaskDefinition, TaskRun } from './definitions.ts'

const CONCURRENCY = 2
const CATALOGUE_QUEUE = 'task-catalogue'
const CATALOGUE_MS = 5_000
/** Minimum time for which ended tasks are stored, although they are listed for less. */
const KEPT_SECONDS = 7 * 86_400

const queueOf = (task: Task) => task.task_key === null || task.task_key === undefined ? task.type : TASK_QUEUE
const priorityOf = (task: Task) => typeof task.payload.priority === 'number' ? task.payload.priority : 0

/** Queues a task. The database enforces the lock, so of many concurrent calls exactly one succeeds. */
async function startTask (app: FastifyInstance, options: StartOptions): Promise<Task> {
  const db = app.db
  const task = db.em.create(Task, {
    id: randomUUID(), title: options.title, type: options.type, task_key: options.task_key ?? null,
    payload: toStorable(options.payload), lock: options.lock ?? null, user_id: options.user_id ?? null
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

/** Recovers tasks of dead workers, and tasks whose row was stored but which never reached the queue. */
async function recoverTasks (app: FastifyInstance, config: Config, runs: TaskRuns): Promise<void> {
  await runs.requeueOrphaned()
  const db = app.db
  for (const task of await db.em.find(Task, { status: 'queued' }, { orderBy: { created_at: 'asc' } })) {
    await app.jobs.send(queueOf(task), { task_id: task.id }, { id: task.id, priority: priorityOf(task) })
  }
  const seconds = Math.max(tasksConfig.of(config).result_ttl_seconds, KEPT_SECONDS)
  await db.em.nativeDelete(Task, { ended_at: { $lt: new Date(databaseNow() - seconds * 1_000) } })
}

/** Lists running, waiting, finished and failed tasks, newest first. */
async function listRuns (config: Config, db: Db): Promise<Task[]> {
  const since = new Date(databaseNow() - tasksConfig.of(config).result_ttl_seconds * 1_000)
  const tasks = await db.em.find(Task, {
    $or: [{ status: ['queued', 'started'] }, { status: ['finished', 'failed'], ended_at: { $gt: since } }]
  })
  const time = (task: Task) => (task.started_at ?? task.enqueued_at).getTime()
  return tasks.sort((a, b) => time(b) - time(a))
}

/** Creates the service of tasks: its catalogue, its queue and its runs. */
export function createTasks (app: FastifyInstance, config: Config) {
  const runs = new TaskRuns(app)
  let filterReports: ReportFilter = async (_context, reports) => [...reports]

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

  const catalogue = createCatalogue(app, (definition, args, userId) => startTask(app, {
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
      const task = await app.db.em.findOneOrFail(Task, { id: run.id })
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

  return {
    addRunner,
    start: (options: StartOptions) => startTask(app, options),
    onEnd: (listener: EndListener) => { runs.onEnd(listener) },
    stopAll: () => { runs.close() },

    /** Sets the filter for reports that members see. */
    filterReports (filter: ReportFilter): void { filterReports = filter },

    /** Returns the reports of tasks without what is hidden from a caller. */
    readReports: async (context: Context, tasks: readonly Task[]): Promise<Task['meta'][]> => {
      const reports = tasks.map(({ meta }) => meta)
      return context.caller.access.is_admin ? reports : await filterReports(context, reports)
    },
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
    startAutomatically: catalogue.startAutomatically,

    recover: () => recoverTasks(app, config, runs),
    get: getTask,
    listRuns: (db: Db) => listRuns(config, db),
    stopOne: (id: string) => stopTask(app.db, id),
    stop: (type: Task['type']) => stopTasksOf(app.db, type)
  }
}
