import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../../core/database/db.ts'
import { inTransaction } from '../../../core/database/transaction.ts'

/**
 * Limits of the thinning: the affected users, the number of newest contents that stay, and whether the last day stays.
 */
interface RetentionLimits { userCondition: RawBuilder<boolean>, newestCount: number, keepsLastDay: boolean }
interface FormerContent { version_id: number | null, asset_id: number }

/**
 * Selects former contents to delete, grouped by their asset. In a slot, the contents of all its saves form one group,
 * with the saves that auto-cleanup deleted. Beyond the newest contents, the last one of each hour stays for two days
 * and the last one of each day for 30 days. The last one of each week stays until ASSET_VERSIONS_KEPT_DAYS.
 */
const selectBeyond = ({ userCondition, newestCount, keepsLastDay }: RetentionLimits) => sql<FormerContent>`with lines as (
    select id, deleted_at, deleted_by, case when slot is null or (deleted_at is not null and deleted_by <> 'cleanup')
      then array[id::text] else array[user_id::text, kind, coalesce(rom_id::text, platform_fs_slug || '/' || rom_fs_name), slot]
      end as line
    from assets where ${userCondition}
  ), history as (
    select v.id as version_id, v.asset_id, v.created_at as at, line from asset_versions v join lines l on l.id = v.asset_id
    union all
    select null, id, deleted_at, line from lines where deleted_by = 'cleanup'
  ), aged as (
    select *, case when at > now() - interval '2 days' then 'hour' when at > now() - interval '30 days' then 'day'
      else 'week' end as unit from history
  ), placed as (
    select *, row_number() over (partition by line order by at desc, version_id desc nulls first) as place,
      row_number() over (partition by line, unit, date_trunc(unit, at, 'UTC') order by at desc, version_id desc nulls first)
        as place_in_unit
    from aged
  ), judged as (
    select version_id, asset_id, place <= ${newestCount} or place_in_unit = 1 or (${keepsLastDay} and at > now() - interval '1 day')
      as stays from placed
  )
  select version_id, asset_id from judged j where not stays and (version_id is not null or not exists (
    select 1 from judged v where v.asset_id = j.asset_id and v.version_id is not null and v.stays))`

/** Deletes the rows beyond the limits, and skips rows that another transaction is restoring. */
async function deleteBeyond (db: Db, limits: RetentionLimits): Promise<string[]> {
  const { rows: expired } = await selectBeyond(limits).execute(db)
  if (expired.length === 0) return []
  const autoCleaned = expired.filter((row) => row.version_id === null).map((row) => row.asset_id)
  const { rows: locked } = await sql<{ id: number }>`select id from assets where id = any(${autoCleaned}::int[])
    and deleted_by = 'cleanup' for update skip locked`.execute(db)
  const assets = locked.map((row) => row.id)
  const { rows: versions } = await sql<{ disk_path: string }>`delete from asset_versions where id in (
    select id from asset_versions where id = any(${expired.flatMap((row) => row.version_id ?? [])}::int[])
      or asset_id = any(${assets}::int[]) for update skip locked) returning disk_path`.execute(db)
  const { rows: deletedAssets } = await sql<{ disk_path: string }>`delete from assets a where id = any(${assets}::int[])
    and not exists (select 1 from asset_versions v where v.asset_id = a.id) returning disk_path`.execute(db)
  return [...versions, ...deletedAssets].map((row) => row.disk_path)
}

/**
 * Thins out the former contents of one user beyond the newest `newestCount`, including contents of the last day. Used
 * when space is short.
 *
 * @returns the files that no row names any more
 */
export const deleteForSpace = (tx: Db, newestCount: number, userId: number): Promise<string[]> =>
  deleteBeyond(tx, { userCondition: sql<boolean>`user_id = ${userId}`, newestCount, keepsLastDay: false })

/**
 * Thins out the former contents of all users beyond the newest `newestCount` by age. Contents of the last day stay.
 *
 * @returns the files that no row names any more
 */
export const deleteByAge = (db: Db, newestCount: number): Promise<string[]> =>
  inTransaction(db, (tx) => deleteBeyond(tx, { userCondition: sql<boolean>`true`, newestCount, keepsLastDay: true }))

/**
 * Deletes the rows of former contents and deleted assets that are older than this many days.
 *
 * @returns the files that no row names any more
 */
export async function deleteOlderThan (db: Db, days: number): Promise<string[]> {
  return await inTransaction(db, async (tx) => {
    const { rows: versions } = await tx.query<{ disk_path: string }>(`delete from asset_versions v using assets a
      where a.id = v.asset_id and (v.created_at < now() - make_interval(days => $1)
        or a.deleted_at < now() - make_interval(days => $1)) returning v.disk_path`, [days])
    const { rows: assets } = await tx.query<{ disk_path: string }>(`delete from assets
      where deleted_at < now() - make_interval(days => $1) returning disk_path`, [days])
    return [...versions, ...assets].map((row) => row.disk_path)
  })
}
