import { type InferEntity, defineEntity, p } from '@mikro-orm/core'
import { columns } from '../../core/database/columns.ts'

export const TASK_TYPES = ['scan', 'conversion', 'cleanup', 'update', 'sync', 'watcher', 'generic'] as const
export const JOB_STATUSES = ['queued', 'started', 'deferred', 'scheduled', 'finished', 'failed', 'stopped',
  'canceled'] as const

/** One run of a task. The queue carries only its id; this row is the source of truth. */
export const Task = defineEntity({
  name: 'Task',
  tableName: 'tasks',
  triggers: [{
    name: 'note_end',
    timing: 'after',
    events: ['update'],
    expression: 'create trigger note_end after update on "tasks" for each row ' +
      "when (old.status = 'started' and new.status <> 'started') execute function note_task_end()"
  }],
  indexes: [
    { properties: ['status', 'created_at'] },
    {
      name: 'tasks_lock_unique',
      expression: 'create unique index "tasks_lock_unique" on "tasks" ("lock") where status in (\'queued\', \'started\')'
    }
  ],
  properties: {
    id: p.uuid().primary(),
    /** The name in the catalogue; null for a scan that a person requested. */
    task_key: columns.text().nullable(),
    title: columns.text(),
    type: p.enum(TASK_TYPES),
    status: p.enum(JOB_STATUSES).default('queued'),
    payload: p.json<Record<string, unknown>>().defaultRaw("'{}'::jsonb"),
    meta: p.json<Record<string, unknown>>().defaultRaw("'{}'::jsonb"),
    /** At most one waiting or running task holds the same lock. */
    lock: columns.text().nullable(),
    cancel_requested: columns.flag(),
    attempts: p.integer().default(0),
    worker_id: columns.text().nullable(),
    error: columns.text().nullable(),
    user_id: p.integer().nullable(),
    created_at: columns.createdAt(),
    enqueued_at: columns.createdAt(),
    started_at: columns.time().nullable(),
    ended_at: columns.time().nullable(),
    /** True if the end is stored, but the end listeners have not run yet. */
    end_pending: columns.flag()
  }
})
export type Task = InferEntity<typeof Task>
