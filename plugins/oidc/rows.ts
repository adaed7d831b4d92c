import type { Db } from '../../core/database/db.ts'

/** Records that an attempt was used. @returns true if it was unused */
export async function insertSpentAttempt (db: Db, hash: string, endsAt: Date): Promise<boolean> {
  const { rowCount } = await db.query(`insert into one_time_tokens (token_hash, purpose, expires_at)
    values ($1, 'oidc', $2) on conflict do nothing`, [hash, endsAt])
  return rowCount === 1
}
