import type { Caller } from '../../core/access/auth.ts'
import type { Db } from '../../core/database/db.ts'
import type { User } from '../users/entities.ts'

/** A login with its account. Times are milliseconds since 1970. */
export interface LiveSession extends Pick<User, 'username' | 'role'> {
  id: number
  user_id: number
  device_id: number | null
  password_hash: string | null
  last_active: number | null
  seen_at: number
  /** The earlier of the end by inactivity and the end by age. */
  expires_at: number
}

const END = 'least(s.expires_at, s.created_at + make_interval(secs => $2))'
const LIVE_SESSION = `select s.id, s.user_id, s.device_id, u.username, u.role, u.password_hash,
    date_part('epoch', u.last_active) * 1000 as last_active, date_part('epoch', s.seen_at) * 1000 as seen_at,
    date_part('epoch', ${END}) * 1000 as expires_at
  from sessions s join users u on u.id = s.user_id where s.token_hash = $1 and ${END} > now() and u.enabled`

/** Finds the session of a cookie, if its account may sign in. */
export async function findLiveSession (
  db: Db, tokenHash: string, absoluteSeconds: number
): Promise<LiveSession | null> {
  return (await db.query<LiveSession>(LIVE_SESSION, [tokenHash, absoluteSeconds])).rows[0] ?? null
}

/** An account that may sign in. `last_active` is milliseconds since 1970. */
export interface EnabledUser extends Pick<User, 'id' | 'username' | 'role' | 'password_hash'> {
  last_active: number | null
}

/** Reads the account of a request by one statement, because an entity costs several times as much. */
export async function findEnabledUser (db: Db, id: number): Promise<EnabledUser | null> {
  return (await db.query<EnabledUser>(
    `select id, username, role, password_hash, date_part('epoch', last_active) * 1000 as last_active
     from users where id = $1 and enabled`, [id])).rows[0] ?? null
}

const UNREVOKED = `select id, username, role, password_hash, date_part('epoch', last_active) * 1000 as last_active
  from users where id = $1 and enabled
    and ($2::bigint is null or exists (select from sessions where id = $2))
    and ($3::bigint is null or exists (select from client_tokens where id = $3))`

/** Reads the account of a caller; null if the account may not sign in any more, or the credential was revoked. */
export async function findUnrevoked (
  db: Db, { id, session_id: session, token_id: token }: Pick<Caller, 'id' | 'session_id' | 'token_id'>
): Promise<EnabledUser | null> {
  return (await db.query<EnabledUser>(UNREVOKED, [id, session, token])).rows[0] ?? null
}

const RENEW = `update sessions set seen_at = now(), expires_at = least(now() + make_interval(secs => $2),
  created_at + make_interval(secs => $3)) where id = $1`

/** Extends a session. @returns true if it still existed */
export async function renewSession (
  db: Db, id: number | null, idleSeconds: number, absoluteSeconds: number
): Promise<boolean> {
  return (await db.query(RENEW, [id, idleSeconds, absoluteSeconds])).rowCount === 1
}

/** @returns the OpenID provider's sealed proof, if one opened the session */
export async function deleteSession (db: Db, id: number): Promise<string | null> {
  const { rows: [gone] } = await db.query<{ id_token: string | null }>(
    'delete from sessions where id = $1 returning id_token', [id])
  return gone?.id_token ?? null
}

/** Deletes a user's sessions, all or all but one. @returns the deleted sessions */
export async function deleteSessions (
  tx: Db, userId: number, remainingId: number | null = null
): Promise<{ id: number }[]> {
  return (await tx.query<{ id: number }>(
    'delete from sessions where user_id = $1 and id is distinct from $2 returning id', [userId, remainingId])).rows
}

/** Locks an account until the transaction ends: nobody signs in to it, and no new row refers to it. */
export async function lockUserForUpdate (tx: Db, userId: number): Promise<void> {
  await tx.query('select 1 from users where id = $1 for update', [userId])
}

/** Locks an account that may sign in against changes by others. */
export async function lockEnabledUser (
  tx: Db, userId: number
): Promise<{ password_hash: string | null } | undefined> {
  const [account] = (await tx.query<{ password_hash: string | null }>(
    'select password_hash from users where id = $1 and enabled for no key update', [userId])).rows
  return account
}

export async function storeSignIn (tx: Db, userId: number): Promise<void> {
  await tx.query('update users set last_login = now(), last_active = now() where id = $1', [userId])
}

/** Deletes a reset link. @returns the address to which it was mailed */
export async function deleteResetLink (
  tx: Db, tokenHash: string, userId: number
): Promise<{ email: string | null } | undefined> {
  const [spent] = (await tx.query<{ email: string | null }>(`delete from one_time_tokens where token_hash = $1
    and purpose = 'reset' and user_id = $2 and expires_at > now() returning data->>'email' as email`, [tokenHash, userId])).rows
  return spent
}

/** Selects the costs of the bcrypt hashes that an import stored and no sign-in has replaced yet. */
export async function selectImportedCosts (db: Db): Promise<number[]> {
  const { rows } = await db.query<{ cost: number }>(`select distinct substr(password_hash, 5, 2)::int as cost from users
    where password_hash like '$2_$__$%' order by cost`)
  return rows.map(({ cost }) => cost)
}

/** Replaces the hash of a password, unless the password changed meanwhile. */
export async function replaceHash (
  db: Db, userId: number, change: { from: string, to: string }
): Promise<void> {
  await db.query('update users set password_hash = $3 where id = $1 and password_hash = $2', [userId, change.from, change.to])
}
