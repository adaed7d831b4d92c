import type { Queryable } from '../../core/database/db.ts'

/** Counts jobs by queue and state. A finished job is stored for a day. */
export async function countJobs (db: Queryable): Promise<{ queue: string, state: string, count: number }[]> {
  const { rows } = await db.query<{ queue: string, state: string, count: number }>(
    'select name as queue, state::text, count(*)::int from pgboss.job group by 1, 2')
  return rows
}
