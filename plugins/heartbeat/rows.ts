import type { Db } from '../../core/database/db.ts'

/** True if the database answers. */
export async function isAnswering (db: Db): Promise<boolean> {
  return (await db.query('select 1')).rowCount === 1
}
