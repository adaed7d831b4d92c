import { sql } from 'kysely'
import type { Db } from '../../../core/database/db.ts'
import { inTransaction } from '../../../core/database/transaction.ts'
import { notFound } from '../../../core/errors.ts'
import { DeletedAccount } from '../entities.ts'

/** Number of days in which an administrator can restore the uploads of a deleted account. */
const KEPT_DAYS = 30

const STORE_ACCOUNT = `insert into deleted_accounts (username, assets, versions)
  select u.username, jsonb_agg(to_jsonb(a)), coalesce((select jsonb_agg(to_jsonb(v)) from asset_versions v
    join assets o on o.id = v.asset_id where o.user_id = u.id), '[]')
  from users u join assets a on a.user_id = u.id where u.id = $1 group by u.id, u.username`

/** Archives the rows that a cascade is about to delete with an account; files stay in their folders. */
export async function archiveUploads (tx: Db, userId: number): Promise<void> {
  await tx.query(STORE_ACCOUNT, [userId])
}

interface AccountRow {
  id: number
  username: string
  saves: number
  states: number
  screenshots: number
  file_size_bytes: number
  deleted_at: Date
  kept_until: Date
}
/** Lists deleted accounts with uploads to restore, the last deleted first. */
export async function listDeletedAccounts (db: Db): Promise<AccountRow[]> {
  const { rows } = await sql<AccountRow>`select d.id, d.username, d.deleted_at,
      d.deleted_at + make_interval(days => ${KEPT_DAYS}) as kept_until,
      count(*) filter (where f->>'kind' = 'save')::int as saves, count(*) filter (where f->>'kind' = 'state')::int as states,
      count(*) filter (where f->>'kind' = 'screenshot')::int as screenshots,
      sum((f->>'file_size_bytes')::float8) as file_size_bytes
    from deleted_accounts d, jsonb_array_elements(d.assets || d.versions) as f group by d.id order by d.id desc`
    .execute(db)
  return rows
}

/**
 * Restores rows with their ids, as rows of another account. A row whose name is taken there is restored as one that
 * auto-cleanup deleted. The new owner can then choose, and no device treats the row as deleted by its owner.
 */
async function restoreRows (tx: Db, accountId: number, userId: number): Promise<number> {
  const db = tx
  const { rows } = await sql<{ id: number }>`insert into assets select (jsonb_populate_record(null::assets, f || jsonb_build_object(
      'user_id', ${userId}::int, 'origin_device_id', null, 'content_device_id', null,
      'rom_id', (select id from roms where id = (f->>'rom_id')::int),
      'deleted_at', case when t.id is null then f->>'deleted_at' else now()::text end,
      'deleted_by', case when t.id is null then f->>'deleted_by' else 'cleanup' end))).*
    from deleted_accounts d cross join jsonb_array_elements(d.assets) as f
      left join lateral (select id from assets where user_id = ${userId} and deleted_at is null and f->>'deleted_at' is null
        and kind = f->>'kind' and slot is not distinct from f->>'slot' and file_name = f->>'file_name'
        and platform_fs_slug = f->>'platform_fs_slug' and rom_fs_name = f->>'rom_fs_name' limit 1) t on true
    where d.id = ${accountId} returning id`.execute(db)
  await sql`insert into asset_versions select (jsonb_populate_record(null::asset_versions, f || '{"content_device_id": null}')).*
    from deleted_accounts d, jsonb_array_elements(d.versions) as f where d.id = ${accountId}`.execute(db)
  return rows.length
}

/**
 * Gives all uploads of a deleted account to another account.
 *
 * @returns the name of the deleted account, and the number of restored saves, states and screenshots
 * @throws ApiError NOT_FOUND
 */
export async function restoreUploads (
  db: Db, accountId: number, userId: number
): Promise<{ username: string, restored: number }> {
  return await inTransaction(db, async (tx) => {
    const users = (await tx.query<object>('select id from users where id = $1 for share', [userId])).rows
    if (users.length === 0) throw notFound(`User with ID '${userId}' not found`)
    const [account] = (await tx.query<{ username: string }>(
      'select username from deleted_accounts where id = $1 for update', [accountId])).rows
    if (account === undefined) throw notFound(`Deleted account with ID '${accountId}' not found; its ${KEPT_DAYS} days may be over`)
    const restored = await restoreRows(tx, accountId, userId)
    await tx.em.nativeDelete(DeletedAccount, { id: accountId })
    return { username: account.username, restored }
  })
}

/**
 * Deletes the archived rows of accounts whose retention is over.
 *
 * @returns the files that no row names any more
 */
export async function deleteExpiredAccounts (db: Db): Promise<string[]> {
  const { rows } = await db.query<{ disk_path: string }>(`with gone as (
      delete from deleted_accounts where deleted_at < now() - make_interval(days => $1) returning assets || versions as contents
    ) select f->>'disk_path' as disk_path from gone, jsonb_array_elements(contents) as f`, [KEPT_DAYS])
  return rows.map((row) => row.disk_path)
}
