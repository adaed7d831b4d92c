import { type RawBuilder, sql } from 'kysely'
import { selectMilliseconds } from '../../core/database/columns.ts'
import type { Db } from '../../core/database/db.ts'
import type { AssetKind } from '../assets/entities.ts'
import { type BaseWrite, baseKeysOf } from '../assets/base-rows.ts'
import type { AnyCaller } from '../platforms/visibility.ts'
import { isRomVisible } from '../roms/visibility.ts'
import type { StoredContent } from './decide.ts'

/** An asset with the sync state of this device. Times are milliseconds since 1970. */
export interface AssetRow extends StoredContent {
  id: number
  kind: AssetKind
  rom_id: number
  file_name: string
  emulator: string | null
  slot: string | null
  /** The name of the ROM without its extension, for `nameOnDevice`; null if it has no plus sign. */
  plus_stem: string | null
  /** For a conflict copy: id of the original asset. */
  conflict_of: number | null
  last_synced_at: number | null
  is_untracked: boolean | null
  /** True if the content is missing from the disk. */
  missing_from_fs: boolean
}

export type BaseRow = Omit<BaseWrite, 'device_id' | 'updated_at'> & StoredContent

/** Former content of the server: a version, or the content of a deleted asset. */
export interface FormerRow extends StoredContent, Pick<AssetRow, 'kind' | 'rom_id' | 'file_name' | 'emulator' | 'slot' | 'conflict_of'> {
  /** True if the owner deleted the asset. */
  is_deleted: boolean
}

/** The user, the device and the files of a negotiation. */
export interface Scope {
  user_id: number
  device_id: number
  caller: NonNullable<AnyCaller>
  kinds: readonly AssetKind[]
  /** Null for all ROMs. */
  rom_ids: readonly number[] | null
  /** True if ROMs for which the device has a base are included. */
  includes_known: boolean
}

/**
 * Matches rows of the wanted ROMs. The subquery becomes a hash lookup; an array would be scanned for each row under a
 * generic plan.
 */
function isInScope (column: string, scope: Scope): RawBuilder<boolean> {
  const { rom_ids: romIds, includes_known: includesKnown, device_id: deviceId } = scope
  if (romIds === null) return sql<boolean>`true`
  const named = sql<boolean>`${sql.ref(column)} in (select unnest(${romIds}::int[]))`
  return includesKnown
    ? sql<boolean>`(${named} or ${sql.ref(column)} in (select rom_id from sync_bases where device_id = ${deviceId}))`
    : named
}

/** Selects the assets of the caller whose ROM is visible. */
export async function selectAssets (db: Db, scope: Scope): Promise<AssetRow[]> {
  const { rows } = await sql<AssetRow>`
    select a.id, a.kind, a.rom_id, a.file_name, a.emulator, a.slot, a.sha1, a.content_hash, a.conflict_of, a.missing_from_fs,
      ${selectMilliseconds('a.updated_at')} as updated_at, ${selectMilliseconds('d.last_synced_at')} as last_synced_at, d.is_untracked,
      case when position('+' in r.fs_name_no_ext) > 0 then r.fs_name_no_ext end as plus_stem
    from assets a
    join roms r on r.id = a.rom_id
    left join device_syncs d on d.asset_id = a.id and d.device_id = ${scope.device_id}
    where a.user_id = ${scope.user_id} and a.kind = any(${scope.kinds}::text[]) and a.deleted_at is null
      and ${isInScope('a.rom_id', scope)} and ${isRomVisible(scope.caller)}`.execute(db)
  return rows
}

/** Selects the bases of the device whose keys have this prefix. */
export async function selectBases (db: Db, scope: Scope, keyStart: string): Promise<BaseRow[]> {
  const { rows } = await sql<BaseRow>`
    select b.rom_id, b.kind, b.key, b.sha1, b.content_hash, ${selectMilliseconds('b.updated_at')} as updated_at from sync_bases b
    where b.device_id = ${scope.device_id} and b.kind = any(${scope.kinds}::text[])
      and starts_with(b.key, ${keyStart})
      and ${scope.includes_known ? sql`true` : isInScope('b.rom_id', scope)}`.execute(db)
  return rows
}

/**
 * Selects former versions and deleted assets with one of these hashes, and all assets that the owner deleted, of some
 * ROMs.
 */
export async function selectFormer (
  db: Db, { user_id: userId, kinds }: Scope, romIds: readonly number[], hashes: readonly string[]
): Promise<FormerRow[]> {
  const columns = sql`a.kind, a.rom_id, a.file_name, a.emulator, a.slot, a.conflict_of,
    coalesce(a.deleted_by = 'owner', false) as is_deleted`
  const condition = sql`a.user_id = ${userId} and a.rom_id = any(${romIds}::int[]) and a.kind = any(${kinds}::text[])`
  const { rows } = await sql<FormerRow>`
    select ${columns}, a.sha1, a.content_hash, ${selectMilliseconds('a.updated_at')} as updated_at from assets a where ${condition} and a.deleted_at is not null
      and (a.deleted_by = 'owner' or a.sha1 = any(${hashes}::text[]) or a.content_hash = any(${hashes}::text[]))
    union all
    select ${columns}, v.sha1, v.content_hash, ${selectMilliseconds('v.content_updated_at')} as updated_at
    from asset_versions v join assets a on a.id = v.asset_id
    where ${condition} and (v.sha1 = any(${hashes}::text[]) or v.content_hash = any(${hashes}::text[]))
    `.execute(db)
  return rows
}

export async function selectRomNames (db: Db, romIds: readonly number[]): Promise<Map<number, string>> {
  const { rows } = await sql<{ id: number, name: string }>`
    select id, coalesce(name, fs_name_no_tags) as name from roms where id = any(${romIds}::int[])`.execute(db)
  return new Map(rows.map((row) => [row.id, row.name]))
}

/**
 * Lists bases for contents of the server, under all their keys. If a slot has several contents, the newest one wins.
 */
export function listBases (
  contents: readonly (StoredContent & Pick<AssetRow, 'rom_id' | 'kind' | 'slot' | 'file_name'>)[]
): BaseRow[] {
  const bases = new Map<string, BaseRow>()
  for (const content of contents.toSorted((one, other) => one.updated_at - other.updated_at)) {
    const { rom_id: romId, kind, sha1, content_hash: contentHash, updated_at: updatedAt } = content
    for (const key of baseKeysOf(content)) {
      bases.set(`${romId}/${kind}/${key}`,
        { rom_id: romId, kind, key, sha1, content_hash: contentHash, updated_at: updatedAt })
    }
  }
  return [...bases.values()]
}

/** Stores bases of a device. The rows have a fixed order, which prevents deadlocks. */
export async function upsertBases (db: Db, deviceId: number, bases: readonly BaseRow[]): Promise<void> {
  if (bases.length === 0) return
  await sql`insert into sync_bases (device_id, rom_id, kind, key, sha1, content_hash, updated_at)
    select ${deviceId}::int, given.rom_id, given.kind, given.key, given.sha1, given.content_hash, given.updated_at
    from unnest(${bases.map((base) => base.rom_id)}::int[], ${bases.map((base) => base.kind)}::text[],
      ${bases.map((base) => base.key)}::text[], ${bases.map((base) => base.sha1)}::text[],
      ${bases.map((base) => base.content_hash)}::text[],
      ${bases.map((base) => new Date(base.updated_at).toISOString())}::timestamptz[])
      as given (rom_id, kind, key, sha1, content_hash, updated_at)
    join roms r on r.id = given.rom_id
    order by given.rom_id, given.kind, given.key for key share of r
    on conflict (device_id, rom_id, kind, key) do update
    set sha1 = excluded.sha1, content_hash = excluded.content_hash, updated_at = excluded.updated_at`.execute(db)
}

/** Stores that a device holds the current content of assets, unless their content changed meanwhile. */
export async function upsertDeviceSyncs (
  db: Db, deviceId: number, syncs: readonly { asset_id: number, sha1: string }[]
): Promise<void> {
  if (syncs.length === 0) return
  await sql`insert into device_syncs (device_id, asset_id, last_synced_at, is_untracked)
    select ${deviceId}::int, a.id, a.updated_at, false
    from unnest(${syncs.map((asset) => asset.asset_id)}::int[], ${syncs.map((asset) => asset.sha1)}::text[])
      as given (asset_id, sha1)
    join assets a on a.id = given.asset_id and a.sha1 = given.sha1
    order by a.id for key share of a
    on conflict (device_id, asset_id) do update
    set last_synced_at = excluded.last_synced_at, is_untracked = false`.execute(db)
}
