import type { Db } from '../../../core/database/db.ts'

/** Maximum number of tries for one code. */
export const TRIES_MAX = 5

/**
 * Counts a try before the code is compared, because concurrent tries must all count.
 *
 * @returns the hash to compare with; null if there is no valid code
 */
export async function countTry (db: Db, channelId: number): Promise<string | null> {
  const { rows: [row] } = await db.query<{ code_hash: string | null }>(`update notification_channels
    set code_tries = code_tries + 1, code_hash = case when code_tries >= ${TRIES_MAX} then null else code_hash end
    where id = $1 and not confirmed and code_hash is not null and code_expires_at > now()
    returning code_hash`, [channelId])
  return row?.code_hash ?? null
}

/** @returns false if another code replaced this one */
export async function confirmChannel (db: Db, channelId: number, codeHash: string): Promise<boolean> {
  const { rowCount } = await db.query(`update notification_channels
    set confirmed = true, code_hash = null, code_expires_at = null, code_tries = 0
    where id = $1 and code_hash = $2`, [channelId, codeHash])
  return rowCount === 1
}
