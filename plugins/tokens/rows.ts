import type { Db } from '../../core/database/db.ts'
import type { User } from '../users/entities.ts'

/*
 * Lock order of everything that changes devices or tokens, which prevents deadlocks: the user, the device, the token,
 * then the rows that depend on them.
 */

/** Locks a token, if it exists, until the transaction ends, so that nobody else changes or deletes it. */
export async function lockToken (tx: Db, tokenId: number): Promise<void> {
  await tx.query('select 1 from client_tokens where id = $1 for no key update', [tokenId])
}

/** A valid token with its account. Times are milliseconds since 1970. */
export interface LiveToken extends Pick<User, 'username' | 'role'> {
  id: number
  user_id: number
  device_id: number | null
  scopes: string[]
  expires_at: number | null
  last_used_at: number | null
  password_hash: string | null
}

const LIVE_TOKEN = `select t.id, t.user_id, t.device_id, t.scopes, u.username, u.role, u.password_hash,
    date_part('epoch', t.expires_at) * 1000 as expires_at, date_part('epoch', t.last_used_at) * 1000 as last_used_at
  from client_tokens t join users u on u.id = t.user_id
  where t.token_hash = $1 and (t.expires_at is null or t.expires_at > now()) and u.enabled`

export async function findLiveToken (db: Db, tokenHash: string): Promise<LiveToken | null> {
  return (await db.query<LiveToken>(LIVE_TOKEN, [tokenHash])).rows[0] ?? null
}

/** Records that a token was used just now. It bypasses the ORM, which would also record a change of the user. */
export async function storeTokenUse (db: Db, tokenId: number, userId: number): Promise<void> {
  await db.query('update client_tokens set last_used_at = now() where id = $1', [tokenId])
  await db.query('update users set last_active = now() where id = $1', [userId])
}

/** Finds the token of a code that has not expired. */
export async function findPairing (
  tx: Db, codeHash: string
): Promise<{ token_id: number | null } | undefined> {
  const [named] = (await tx.query<{ token_id: number | null }>(
    'select token_id from pairing_codes where code_hash = $1 and expires_at > now()', [codeHash])).rows
  return named
}

/** Uses up a code. @returns true if it was still valid */
export async function deletePairing (tx: Db, codeHash: string): Promise<boolean> {
  const used = (await tx.query<object>(
    'delete from pairing_codes where code_hash = $1 and expires_at > now() returning 1', [codeHash])).rows
  return used.length > 0
}
