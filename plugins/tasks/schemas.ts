import { type Static, Type } from '@sinclair/typebox'
import { DateTime, Nullable, StringEnum } from '../../core/typebox.ts'
import { JOB_STATUSES, TASK_TYPES } from './entities.ts'

export const TaskInfoSchema = Type.Object({
  name: Type.String(),
  type: StringEnum(TASK_TYPES),
  title: Type.String(),
  description: Type.String(),
  enabled: Type.Boolean(),
  manual_run: Type.Boolean(),
  cron_string: Type.String(),
  destructive: Type.Boolean({ description: 'True if it deletes or replaces something that cannot be recovered' })
}, { title: 'TaskInfo' })
export type TaskInfo = Static<typeof TaskInfoSchema>

export const TaskGroupsSchema = Type.Object({
  scheduled: Type.Array(TaskInfoSchema),
  manual: Type.Array(TaskInfoSchema),
  watcher: Type.Array(TaskInfoSchema)
}, { title: 'TaskGroups' })
export type TaskGroups = Static<typeof TaskGroupsSchema>

const execution = {
  task_name: Type.String(),
  task_id: Type.String({ format: 'uuid' }),
  task_key: Nullable(Type.String()),
  status: StringEnum(JOB_STATUSES),
  created_at: Nullable(DateTime),
  enqueued_at: Nullable(DateTime)
}

export const TaskExecutionSchema = Type.Object(execution, { title: 'TaskExecution' })
export type TaskExecution = Static<typeof TaskExecutionSchema>

export const TaskStatusSchema = Type.Object({
  ...execution,
  started_at: Nullable(DateTime),
  ended_at: Nullable(DateTime),
  task_type: StringEnum(TASK_TYPES),
  meta: Type.Object({}, { additionalProperties: true })
}, { title: 'TaskStatus' })
export type TaskStatus = Static<typeof TaskStatusSchema>
