import type pg from 'pg'

/** Jobs by queue and state. Those that ended are there for a day. */
export async function countJobs (pool: pg.Pool): Promise<{ queue: string, state: string, count: number }[]> {
  const { rows } = await pool.query<{ queue: string, state: string, count: number }>(
    'select name as queue, state::text, count(*)::int from pgboss.job group by 1, 2')
  return rows
}
