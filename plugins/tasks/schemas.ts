import { type Static, Type } from '@sinclair/typebox'
import { DateTime, Nullable, StringEnum, formatDate } from '../../core/typebox.ts'
import { JOB_STATUSES, TASK_TYPES, type Task } from './entities.ts'

export const TaskInfoSchema = Type.Object({
  name: Type.String(),
  type: StringEnum(TASK_TYPES),
  title: Type.String(),
  description: Type.String(),
  enabled: Type.Boolean(),
  manual_run: Type.Boolean(),
  cron_string: Type.String(),
  destructive: Type.Boolean({ description: 'Whether it deletes or replaces something that cannot be had again' })
})
export type TaskInfo = Static<typeof TaskInfoSchema>

export const TaskGroupsSchema = Type.Object({
  scheduled: Type.Array(TaskInfoSchema),
  manual: Type.Array(TaskInfoSchema),
  watcher: Type.Array(TaskInfoSchema)
})

const execution = {
  task_name: Type.String(),
  task_id: Type.String({ format: 'uuid' }),
  task_key: Nullable(Type.String()),
  status: StringEnum(JOB_STATUSES),
  created_at: Nullable(DateTime),
  enqueued_at: Nullable(DateTime)
}

export const TaskExecutionSchema = Type.Object(execution)
export type TaskExecution = Static<typeof TaskExecutionSchema>

export const TaskStatusSchema = Type.Object({
  ...execution,
  started_at: Nullable(DateTime),
  ended_at: Nullable(DateTime),
  task_type: StringEnum(TASK_TYPES),
  meta: Type.Object({}, { additionalProperties: true })
})
export type TaskStatus = Static<typeof TaskStatusSchema>

/** The key under which a task of each type reports; null until it did. */
const STATS_KEYS: Partial<Record<Task['type'], string>> = {
  scan: 'scan_stats', conversion: 'conversion_stats', update: 'update_stats', cleanup: 'cleanup_stats'
}

export function toTaskExecution (task: Task): TaskExecution {
  return {
    task_name: task.title,
    task_id: task.id,
    task_key: task.task_key ?? null,
    status: task.status,
    created_at: formatDate(task.created_at),
    enqueued_at: formatDate(task.enqueued_at)
  }
}

export function toTaskStatus (task: Task): TaskStatus {
  const key = STATS_KEYS[task.type]
  return {
    ...toTaskExecution(task),
    started_at: formatDate(task.started_at ?? null),
    ended_at: formatDate(task.ended_at ?? null),
    task_type: task.type,
    meta: { ...(key === undefined ? {} : { [key]: null }), ...task.meta }
  }
}
