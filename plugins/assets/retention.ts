import type { EntityManager } from '@mikro-orm/postgresql'
import type pg from 'pg'
import { transaction } from '../../core/transaction.ts'
import type { Asset } from './entities.ts'

/** Former contents of an asset; in a slot also those of its other saves, and the saves that were cleaned up. */
const BEYOND_COUNT = `with lineage as (
    select id, deleted_at, deleted_by, disk_path from assets where id = ? or (user_id = ? and kind = ?
      and rom_id is not distinct from ? and (rom_id is not null or (platform_fs_slug = ? and rom_fs_name = ?))
      and slot = ? and (deleted_at is null or deleted_by = 'cleanup'))
  ), history as (
    select v.id as version_id, v.asset_id, v.created_at as at from asset_versions v join lineage l on l.id = v.asset_id
    union all
    select null, l.id, l.deleted_at from lineage l where l.deleted_by = 'cleanup'
  )
  select version_id, asset_id from (
    select *, row_number() over (order by at desc, version_id desc nulls first) as place from history
  ) placed where place > ?`

interface Former { version_id: number | null, asset_id: number }

/**
 * Deletes the rows of what is beyond the newest `kept` former contents.
 *
 * @returns the files that no row names any more
 */
export async function takeBeyondCount (tx: EntityManager, asset: Asset, kept: number): Promise<string[]> {
  const old = await tx.execute<Former[]>(BEYOND_COUNT,
    [asset.id, asset.user.id, asset.kind, asset.rom?.id ?? null, asset.platform_fs_slug, asset.rom_fs_name,
      asset.slot ?? null, kept])
  if (old.length === 0) return []
  const assets = old.filter((row) => row.version_id === null).map((row) => row.asset_id)
  const versions = old.flatMap((row) => row.version_id ?? [])
  const toArray = (ids: readonly number[]) => `{${ids.join(',')}}`
  const paths = await tx.execute<{ disk_path: string }[]>(`
    delete from asset_versions where id = any(?::int[]) or asset_id = any(?::int[]) returning disk_path`,
  [toArray(versions), toArray(assets)])
  const whole = await tx.execute<{ disk_path: string }[]>('delete from assets where id = any(?::int[]) returning disk_path',
    [toArray(assets)])
  return [...paths, ...whole].map((row) => row.disk_path)
}

/**
 * Deletes the rows of former contents, and of deleted assets, that are older than so many days.
 *
 * @returns the files that no row names any more
 */
export async function takeOlderThan (pool: pg.Pool, days: number): Promise<string[]> {
  return await transaction(pool, async (client) => {
    const { rows: versions } = await client.query<{ disk_path: string }>(`delete from asset_versions v using assets a
      where a.id = v.asset_id and (v.created_at < now() - make_interval(days => $1)
        or a.deleted_at < now() - make_interval(days => $1)) returning v.disk_path`, [days])
    const { rows: assets } = await client.query<{ disk_path: string }>(`delete from assets
      where deleted_at < now() - make_interval(days => $1) returning disk_path`, [days])
    return [...versions, ...assets].map((row) => row.disk_path)
  })
}
