import type pg from 'pg'

/** True if the database answers. */
export async function isAnswering (pool: pg.Pool): Promise<boolean> {
  return (await pool.query('select 1')).rowCount === 1
}
