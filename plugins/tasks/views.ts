import { formatDate } from '../../core/typebox.ts'
import type { Task } from './entities.ts'
import type { TaskExecution, TaskStatus } from './schemas.ts'

/** The key under which a task of each type reports; null before its first report. */
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

/** @param report the report of the task, as its reader may see it */
export function toTaskStatus (task: Task, report: Task['meta']): TaskStatus {
  const key = STATS_KEYS[task.type]
  return {
    ...toTaskExecution(task),
    started_at: formatDate(task.started_at ?? null),
    ended_at: formatDate(task.ended_at ?? null),
    task_type: task.type,
    meta: { ...(key === undefined ? {} : { [key]: null }), ...report }
  }
}
