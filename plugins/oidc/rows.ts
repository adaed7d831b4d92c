import type pg from 'pg'

/** Records that an attempt was used. @returns true if it was unused */
export async function insertSpentAttempt (pool: pg.Pool, hash: string, endsAt: Date): Promise<boolean> {
  const { rowCount } = await pool.query(`insert into one_time_tokens (token_hash, purpose, expires_at)
    values ($1, 'oidc', $2) on conflict do nothing`, [hash, endsAt])
  return rowCount === 1
}
