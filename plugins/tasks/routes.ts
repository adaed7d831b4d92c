import { Type } from '@sinclair/typebox'
import { type Caller, callerOf } from '../../core/access/auth.ts'
import { type Context, contextOf } from '../../core/access/context.ts'
import { createPathMask } from '../../core/config/path-mask.ts'
import type { FeatureRoutes } from '../../core/feature.ts'
import { ErrorSchema } from '../../core/typebox.ts'
import type { Task } from './entities.ts'
import { TaskExecutionSchema, TaskGroupsSchema, type TaskStatus, TaskStatusSchema } from './schemas.ts'
import { toTaskExecution, toTaskStatus } from './views.ts'

const tags = ['tasks']
const scopes = ['tasks.run'] as const

const routes: FeatureRoutes = async (app, { config }) => {
  const mask = createPathMask(config)

  /** Reports of tasks may contain paths of the machine, which only administrators may see. */
  function toView (task: Task, { access }: Caller, report: Task['meta']): TaskStatus {
    const status = toTaskStatus(task, report)
    if (access.is_admin) return status
    const meta = JSON.parse(JSON.stringify(status.meta), (_key, value: unknown) =>
      typeof value === 'string' ? mask(value) : value) as TaskStatus['meta']
    return { ...status, meta }
  }

  async function viewAll (context: Context, tasks: readonly Task[]): Promise<TaskStatus[]> {
    const reports = await app.tasks.readReports(context, tasks)
    return tasks.map((task, index) => toView(task, context.caller, reports[index] ?? {}))
  }

  async function viewOne (context: Context, id: string): Promise<TaskStatus> {
    const task = await app.tasks.get(context.db, id)
    const [report = {}] = await app.tasks.readReports(context, [task])
    return toView(task, context.caller, report)
  }

  app.get('/api/tasks', {
    schema: { operationId: 'listTasks', tags, summary: 'List all tasks of the server', response: { 200: TaskGroupsSchema } },
    config: { scopes }
  }, async () => app.tasks.list())

  app.get('/api/tasks/status', {
    schema: {
      operationId: 'listTaskRuns', tags, summary: 'List running, waiting and recently ended tasks, newest first',
      response: { 200: Type.Array(TaskStatusSchema) }
    },
    config: { scopes }
  }, async (request) => {
    return await viewAll(contextOf(request), await app.tasks.listRuns(request.db))
  })

  app.get('/api/tasks/:task_id', {
    schema: {
      operationId: 'getTaskRun', tags, summary: 'Get a run of a task', params: Type.Object({ task_id: Type.String({ description: 'UUID of a run' }) }),
      response: { 200: TaskStatusSchema }
    },
    config: { scopes }
  }, async (request) => await viewOne(contextOf(request), request.params.task_id))

  app.post('/api/tasks/:task_id/stop', {
    schema: {
      operationId: 'stopTask',
      tags,
      summary: 'Stop a run of a task',
      description:
        'A waiting task is removed from the queue. A running task ends soon after, and its results so far stay. Every task can ' +
        'be run again.',
      params: Type.Object({ task_id: Type.String({ description: 'UUID of a run' }) }),
      response: { 200: TaskStatusSchema, 404: ErrorSchema, 409: ErrorSchema }
    },
    config: { scopes }
  }, async (request) => {
    const { task_id: id } = request.params
    await app.tasks.stopOne(id)
    await app.audit.record({ event: 'task.stopped', user: request.caller, address: request.ip, details: { task_id: id } })
    return await viewOne(contextOf(request), id)
  })

  app.post('/api/tasks/run/:task_name', {
    schema: {
      operationId: 'runTask',
      tags,
      summary: 'Queue a task by its name',
      params: Type.Object({ task_name: Type.String({ description: 'Name of a task in the catalogue' }) }),
      body: Type.Union([Type.Object({}, { additionalProperties: true }), Type.Null()]),
      description: 'A destructive task also needs the scope and the grant for the objects that it deletes or renames.',
      response: { 200: TaskExecutionSchema, 403: ErrorSchema }
    },
    preValidation: async (request) => { request.body ??= null },
    config: { scopes }
  }, async (request) => {
    const task = await app.tasks.run(request.params.task_name, request.body ?? {}, callerOf(request))
    await app.audit.record({
      event: 'task.run', user: request.caller, address: request.ip, details: { task_name: request.params.task_name }
    })
    return toTaskExecution(task)
  })
}

export default routes
