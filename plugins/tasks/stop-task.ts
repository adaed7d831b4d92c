import { databaseDate } from '../../core/database/clock.ts'
import type { Db } from '../../core/database/db.ts'
import { conflict, notFound } from '../../core/errors.ts'
import { readUuid } from '../../core/web/reference.ts'
import { Task } from './entities.ts'

/** Returns a task. @throws ApiError NOT_FOUND */
export async function getTask (db: Db, id: string): Promise<Task> {
  const uuid = readUuid(id)
  const task = uuid === null ? null : await db.em.findOne(Task, { id: uuid })
  if (task === null) throw notFound(`Task with ID '${id}' not found`)
  return task
}

/**
 * Drops a waiting task, or asks a running one to stop.
 *
 * @throws ApiError NOT_FOUND, or CONFLICT if it has ended
 */
export async function stopTask (db: Db, id: string): Promise<void> {
  const { id: uuid } = await getTask(db, id)
  const dropped = await db.em.nativeUpdate(Task, { id: uuid, status: ['queued', 'scheduled'] },
    { status: 'canceled', ended_at: databaseDate() })
  if (dropped === 1) return
  const updated = await db.em.nativeUpdate(Task, { id: uuid, status: 'started' }, { cancel_requested: true })
  if (updated === 0) throw conflict(`Task '${id}' has already ended`)
}

/**
 * Drops waiting tasks of a type, including delayed ones, and asks running ones to stop.
 *
 * @returns the number of these tasks
 */
export async function stopTasksOf (db: Db, type: Task['type']): Promise<number> {
  const dropped = await db.em.nativeUpdate(Task,
    { type, $or: [{ task_key: null, status: 'queued' }, { status: 'scheduled' }] },
    { status: 'canceled', ended_at: databaseDate() })
  const updated = await db.em.nativeUpdate(Task, { type, task_key: null, status: 'started' }, { cancel_requested: true })
  return dropped + updated
}
