import type { Db } from '../../core/database/db.ts'

/** Claims a waiting task. @returns true if this worker holds it now */
export async function claimTask (db: Db, id: string, worker: string): Promise<boolean> {
  const { rowCount } = await db.query(`update tasks set status = 'started', worker_id = $2, attempts = attempts + 1,
    started_at = coalesce(started_at, now()) where id = $1 and status = 'queued'`, [id, worker])
  return rowCount === 1
}

/** Counts waiting and running tasks. */
export async function countTasks (db: Db): Promise<{ type: string, status: string, count: number }[]> {
  const { rows } = await db.query<{ type: string, status: string, count: number }>(
    "select type, status, count(*)::int from tasks where status in ('queued', 'scheduled', 'started') group by 1, 2")
  return rows
}

/** Requeues a task of this worker for another one, without counting an attempt. */
export async function requeueTask (db: Db, id: string, worker: string): Promise<void> {
  await db.query(`update tasks set status = 'queued', worker_id = null, attempts = attempts - 1
    where id = $1 and status = 'started' and worker_id = $2`, [id, worker])
}

/** True if a task waits or runs, or if something still follows its end. */
export async function hasUnfinished (db: Db): Promise<boolean> {
  const { rowCount } = await db.query("select 1 from tasks where status in ('queued', 'started') or end_pending limit 1")
  return rowCount === 1
}
