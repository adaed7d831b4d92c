import { PLAY_STATUSES } from '@svc/plugin-sdk'
import type { Db } from '../../core/database/db.ts'
import { ApiError } from '../../core/errors.ts'

/** The key of the advisory lock on creating the first administrator: a number that nothing else uses. */
const FIRST_ADMIN_LOCK = 7_364_121

/** Locks the creation of a first administrator until the transaction ends. */
export async function lockFirstAdmin (tx: Db): Promise<void> {
  await tx.query('select pg_advisory_xact_lock($1)', [FIRST_ADMIN_LOCK])
}

/**
 * Locks this user and all administrators who can sign in until the transaction ends. If two callers remove the last two
 * administrators at once, the second sees the change of the first.
 *
 * @returns true if the user is the last administrator
 */
export async function isLastAdmin (tx: Db, userId: number): Promise<boolean> {
  const rows = (await tx.query<{ id: number, is_admin: boolean }>(`select id, role = 'admin' and enabled as is_admin
    from users where (role = 'admin' and enabled) or id = $1 order by id for update`, [userId])).rows
  const admins = rows.filter((row) => row.is_admin)
  return admins.length === 1 && admins[0]?.id === userId
}

/** Stores a user's settings for a provider. A change deletes the progress of the former settings. */
export async function upsertProviderAccount (
  tx: Db, userId: number, provider: string, settings: Record<string, unknown>
): Promise<void> {
  await tx.query(`insert into provider_accounts as a (user_id, provider, settings) values ($1, $2, $3::jsonb)
    on conflict (user_id, provider) do update set settings = a.settings || excluded.settings,
      progress = case when a.settings @> excluded.settings then a.progress end`,
  [userId, provider, JSON.stringify(settings)])
}

/** Stores progress, unless the settings of the account changed meanwhile. */
export async function updateProgress (
  db: Db, account: { user_id: number, provider: string }, progress: unknown, settings: unknown
): Promise<void> {
  await db.query(`update provider_accounts set progress = $3::jsonb
    where user_id = $1 and provider = $2 and settings = $4::jsonb`,
  [account.user_id, account.provider, JSON.stringify(progress), JSON.stringify(settings)])
}

/** The statuses in order of progress. Marks outside this order stay, such as a game that the user gave up. */
const STEPS = `'{${PLAY_STATUSES.join()}}'::text[]`
const MARK_STATUSES = `insert into rom_users (rom_id, user_id, status)
  select distinct on (r.id) r.id, a.user_id, g.status
  from provider_accounts a
    cross join jsonb_to_recordset(coalesce(nullif(a.progress, 'null'), '[]')) as g (id text, status text)
    join rom_matches m on m.provider = a.provider and m.provider_id = g.id
    join roms r on r.id = m.rom_id
  where a.user_id = $1 and a.provider = $2 and g.status is not null
  order by r.id, array_position(${STEPS}, g.status) desc
  on conflict (rom_id, user_id) do update set status = excluded.status, updated_at = now()
    where rom_users.status is null
      or rom_users.status <> excluded.status and rom_users.status = any(${STEPS})`

/** Sets the status of a user's ROMs from the progress that the provider reported. */
export async function markStatuses (db: Db, userId: number, provider: string): Promise<void> {
  await db.query(MARK_STATUSES, [userId, provider])
}

/** Deletes an invite within the transaction. @returns its maker and its data */
export async function deleteInvite (
  tx: Db, tokenHash: string
): Promise<{ user_id: number | null, data: unknown } | undefined> {
  const [row] = (await tx.query<{ user_id: number | null, data: unknown }>(`delete from one_time_tokens
    where token_hash = $1 and purpose = 'invite' and expires_at > now() returning user_id, data`, [tokenHash])).rows
  return row
}

/** Locks a user until the transaction ends, so that nobody else creates devices, tokens or channels for it. */
export async function lockUser (tx: Db, userId: number): Promise<void> {
  const rows = (await tx.query<object>('select 1 from users where id = $1 for no key update', [userId])).rows
  if (rows.length === 0) throw new ApiError('NOT_AUTHENTICATED', 'Your account was deleted')
}
