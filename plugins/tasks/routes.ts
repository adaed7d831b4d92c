import { Type } from '@sinclair/typebox'
import { type Caller, callerOf } from '../../core/access/auth.ts'
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
  function viewFor ({ access }: Caller, task: Task): TaskStatus {
    const status = toTaskStatus(task)
    if (access.is_admin) return status
    const meta = JSON.parse(JSON.stringify(status.meta), (_key, value: unknown) =>
      typeof value === 'string' ? mask(value) : value) as TaskStatus['meta']
    return { ...status, meta }
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
    const caller = callerOf(request)
    return (await app.tasks.listRuns(request.db)).map((task) => viewFor(caller, task))
  })

  app.get('/api/tasks/:task_id', {
    schema: {
      operationId: 'getTaskRun', tags, summary: 'Get a run of a task', params: Type.Object({ task_id: Type.String({ description: 'UUID of a run' }) }),
      response: { 200: TaskStatusSchema }
    },
    config: { scopes }
  }, async (request) => viewFor(callerOf(request), await app.tasks.get(request.db, request.params.task_id)))

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
    return viewFor(callerOf(request), await app.tasks.get(request.db, id))
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
