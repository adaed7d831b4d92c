import { basename, dirname } from 'node:path/posix'
import { type RawBuilder, sql } from 'kysely'
import type { Context } from '../../core/access/context.ts'
import { selectMilliseconds } from '../../core/database/columns.ts'
import { type Condition, allOf } from '../../core/database/conditions.ts'
import type { Db } from '../../core/database/db.ts'
import { type AnyCaller, readsPublic } from '../platforms/visibility.ts'
import { isRomVisible } from '../roms/visibility.ts'
import type { Asset, AssetKind } from './entities.ts'

/** An asset with its owner. Times are milliseconds since 1970. */
export interface AssetRow extends Pick<Asset, 'id' | 'kind' | 'file_name' | 'file_size_bytes' | 'sha1' | 'disk_path' |
  'is_public' | 'is_gallery' | 'missing_from_fs'> {
  user_id: number
  rom_id: number | null
  emulator: string | null
  slot: string | null
  content_hash: string | null
  /** Null for a live asset. */
  deleted_at: number | null
  conflict_of: number | null
  /** UUID of the device that sent the first content. */
  origin_device_id: string | null
  /** UUID of the device that sent the current content. */
  content_device_id: string | null
  client_mtime: number | null
  created_at: number
  updated_at: number
  username: string
  user_avatar_path: string
  user_updated_at: number
}

export interface SyncRow {
  asset_id: number
  device_id: number
  device_uuid: string
  device_name: string | null
  last_synced_at: number
  is_untracked: boolean
}

/** A condition on `assets` aliased `a`, its ROM `r` and platform `p`. */
export type AssetCondition = Condition

const COLUMNS = sql`a.id, a.kind, a.user_id, a.rom_id, a.file_name, a.file_size_bytes::float8 as file_size_bytes, a.sha1,
  a.content_hash, a.disk_path, a.emulator, a.slot, a.is_public, a.is_gallery, a.missing_from_fs, a.conflict_of,
  d.device_id as origin_device_id, c.device_id as content_device_id, ${selectMilliseconds('a.client_mtime')} as client_mtime, ${selectMilliseconds('a.deleted_at')} as deleted_at,
  ${selectMilliseconds('a.created_at')} as created_at, ${selectMilliseconds('a.updated_at')} as updated_at,
  o.username, o.avatar_path as user_avatar_path, ${selectMilliseconds('o.updated_at')} as user_updated_at`

export const userIdOf = (caller: AnyCaller) => caller?.id ?? -1

export const isOwn = (caller: AnyCaller): AssetCondition => sql<boolean>`a.user_id = ${userIdOf(caller)}`
export const isKind = (kind: AssetKind): AssetCondition => sql<boolean>`a.kind = ${kind}`
/** Matches an asset by the path that clients know: the folder of its content, and its file name. */
export const isAt = (path: string): AssetCondition => sql<boolean>`(a.user_id in (
    select id from users where folder = ${path.split('/')[1] ?? ''})
  and a.file_name = ${basename(path)} and regexp_replace(a.disk_path, '/[^/]*$', '') = ${dirname(path)})`
export const isLive = sql<boolean>`a.deleted_at is null`
export const isDeleted = sql<boolean>`a.deleted_at is not null`
/** Matches assets of the caller, and public ones unless the caller may read only its own. */
export const isShared = (caller: AnyCaller): AssetCondition => readsPublic(caller, 'assets')
  ? sql<boolean>`(${isOwn(caller)} or a.is_public)`
  : isOwn(caller)

/** Matches assets whose ROM is visible to the caller. If the ROM is gone, only the owner matches. */
export const isReachable = (caller: AnyCaller): AssetCondition => sql<boolean>`case when a.rom_id is null
  then ${isOwn(caller)} else ${isRomVisible(caller)} end`

export const isId = (id: number): AssetCondition => sql<boolean>`a.id = ${id}`
export const isOneOf = (ids: readonly number[]): AssetCondition => sql<boolean>`a.id = any(${ids}::int[])`
export const isOfRom = (romId: number): AssetCondition => sql<boolean>`a.rom_id = ${romId}`
export const isOfPlatform = (platformId: number): AssetCondition => sql<boolean>`r.platform_id = ${platformId}`
export const isInSlot = (slot: string): AssetCondition => sql<boolean>`a.slot = ${slot}`
/** Matches assets whose ROM is gone. */
export const isOrphaned = sql<boolean>`a.rom_id is null`
/** Matches assets whose ROM exists and is visible to the caller. */
export const isOfVisibleRom = (caller: AnyCaller): AssetCondition =>
  sql<boolean>`(a.rom_id is not null and ${isRomVisible(caller)})`

/** Matches a ROM `r` with an asset of the caller, or a public one of another user. */
export const hasAsset = (caller: AnyCaller, kind: AssetKind): RawBuilder<boolean> => sql<boolean>`exists (select 1 from assets a
  where a.rom_id = r.id and a.kind = ${kind} and ${isLive} and ${isShared(caller)})`

/** Selects the ids of all such ROMs, once or repeatedly. */
export const idsWithAsset = (caller: AnyCaller, kind: AssetKind): RawBuilder<unknown> => sql`select a.rom_id from assets a
  where a.rom_id is not null and a.kind = ${kind} and ${isLive} and ${isShared(caller)}`

/** Selects the assets that match the condition, newest first. */
export async function selectAssets (db: Db, condition: AssetCondition): Promise<AssetRow[]> {
  const { rows } = await sql<AssetRow>`
    select ${COLUMNS} from assets a join users o on o.id = a.user_id left join roms r on r.id = a.rom_id
    left join platforms p on p.id = r.platform_id left join devices d on d.id = a.origin_device_id
    left join devices c on c.id = a.content_device_id
    where ${condition} order by a.updated_at desc, a.id desc`.execute(db)
  return rows
}

/** Selects screenshots that may be the pictures of these assets, newest first. */
export async function selectScreenshotsOf (db: Db, assets: readonly AssetRow[]): Promise<AssetRow[]> {
  const pictured = assets.filter((row) => row.kind !== 'screenshot' && row.rom_id !== null)
  if (pictured.length === 0) return []
  const users = [...new Set(pictured.map((row) => row.user_id))]
  const roms = [...new Set(pictured.map((row) => row.rom_id))]
  return await selectAssets(db, allOf([
    isKind('screenshot'), isLive, sql<boolean>`a.user_id = any(${users}::int[])`, sql<boolean>`a.rom_id = any(${roms}::int[])`
  ]))
}

/** Selects the sync state of these saves on all devices. */
export async function selectSyncs (db: Db, assets: readonly AssetRow[]): Promise<SyncRow[]> {
  const { rows } = await sql<SyncRow>`
    select s.asset_id, s.device_id, d.device_id as device_uuid, d.name as device_name, s.is_untracked,
      ${selectMilliseconds('s.last_synced_at')} as last_synced_at
    from device_syncs s join devices d on d.id = s.device_id
    where s.asset_id = any(${assets.map((row) => row.id)}::int[]) order by s.last_synced_at desc, s.device_id`
    .execute(db)
  return rows
}

/** Selects the ids of the caller's assets whose ROM is visible, in ascending order. */
export async function selectOwnIds ({ db, caller }: Context<AnyCaller>, kind: AssetKind): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`select a.id from assets a join roms r on r.id = a.rom_id
    join platforms p on p.id = r.platform_id
    where ${allOf([isOwn(caller), isKind(kind), isLive, isRomVisible(caller)])} order by a.id`.execute(db)
  return rows.map((row) => row.id)
}
