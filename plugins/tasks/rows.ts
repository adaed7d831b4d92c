import type pg from 'pg'

/** Takes a task that waits. @returns whether it is this worker's now */
export async function claimTask (pool: pg.Pool, id: string, worker: string): Promise<boolean> {
  const { rowCount } = await pool.query(`update tasks set status = 'started', worker_id = $2, attempts = attempts + 1,
    started_at = coalesce(started_at, now()) where id = $1 and status = 'queued'`, [id, worker])
  return rowCount === 1
}

/** Tasks that wait or run. */
export async function countTasks (pool: pg.Pool): Promise<{ type: string, status: string, count: number }[]> {
  const { rows } = await pool.query<{ type: string, status: string, count: number }>(
    "select type, status, count(*)::int from tasks where status in ('queued', 'scheduled', 'started') group by 1, 2")
  return rows
}

/** Has another worker take a task of this one, at the cost of no attempt. */
export async function requeueTask (pool: pg.Pool, id: string, worker: string): Promise<void> {
  await pool.query(`update tasks set status = 'queued', worker_id = null, attempts = attempts - 1
    where id = $1 and status = 'started' and worker_id = $2`, [id, worker])
}
