import { type RawBuilder, sql } from 'kysely'
import type { Context } from '../../core/access/context.ts'
import { escapeLike, selectMilliseconds } from '../../core/database/columns.ts'
import type { Db } from '../../core/database/db.ts'
import { NO_PLATFORM } from '../assets/asset-names.ts'
import type { Asset } from '../assets/entities.ts'
import { listStems } from '../library/names.ts'
import type { AnyCaller } from '../platforms/visibility.ts'
import { isRomVisible } from '../roms/visibility.ts'
import type { WebdavFile } from './entities.ts'
import type { ListEntry, DeviceState } from './sync/list-entry.ts'
import type { RomCandidate } from './sync/match-rom.ts'

/** The asset that has the current content of a path, or had it. */
export interface CurrentAsset extends Pick<Asset, 'id' | 'kind' | 'sha1' | 'file_name' | 'file_size_bytes' |
  'missing_from_fs'> {
  rom_id: number | null
  content_hash: string | null
  slot: string | null
  emulator: string | null
  deleted_by: 'owner' | 'cleanup' | null
  /** Milliseconds since 1970. */
  updated_at: number
  /** False for the game of a ROM that is hidden from its owner. */
  is_reachable: boolean
}

/** A path of a user, with its asset. */
export interface FileRow extends Pick<WebdavFile, 'id' | 'path' | 'folded'> {
  rom_id: number | null
  sha1: string | null
  md5: string | null
  file_size_bytes: number
  disk_path: string | null
  is_deleted: boolean
  /** Milliseconds since 1970. */
  updated_at: number
  asset: CurrentAsset | null
}

export type Owner = Context<AnyCaller>

/** True if a path has content that its owner did not delete. */
export const isLive = ({ asset, disk_path: diskPath, is_deleted: isDeleted }: FileRow): boolean =>
  asset === null ? diskPath !== null && !isDeleted : asset.deleted_by === null

/** Returns the SHA-1 of the content of a path that is not deleted; null for none. */
export const currentSha1 = (row: FileRow): string | null => isLive(row) ? row.asset?.sha1 ?? row.sha1 : null

const ownerId = (caller: AnyCaller) => caller?.id ?? -1

/** Matches assets `c` that hold the same file as asset `a`: others of its slot for the same emulator, or itself. */
const IS_SAME_FILE = sql<boolean>`c.user_id = a.user_id and c.kind = a.kind and (c.id = a.id or (a.rom_id is not null
  and c.rom_id = a.rom_id and a.slot is not null and c.slot = a.slot and c.conflict_of is null
  and (c.emulator is null or c.emulator = a.emulator)))`

/** Selects paths with their assets: the newest one of a slot, a deleted one only if no other is left. */
async function selectWhere ({ db, caller }: Owner, condition: RawBuilder<boolean>): Promise<FileRow[]> {
  const { rows } = await sql<FileRow>`select f.id, f.path, f.folded, f.rom_id, f.sha1, f.md5,
      f.file_size_bytes::float8 as file_size_bytes, f.disk_path, f.deleted_at is not null as is_deleted,
      ${selectMilliseconds('f.updated_at')} as updated_at, case when n.id is null then null else json_build_object(
        'id', n.id, 'kind', n.kind, 'rom_id', n.rom_id, 'sha1', n.sha1, 'content_hash', n.content_hash, 'slot', n.slot,
        'emulator', n.emulator, 'file_name', n.file_name, 'file_size_bytes', n.file_size_bytes,
        'missing_from_fs', n.missing_from_fs, 'deleted_by', n.deleted_by, 'updated_at', ${selectMilliseconds('n.updated_at')},
        'is_reachable', n.rom_id is null or exists (select 1 from roms r where r.id = n.rom_id and ${isRomVisible(caller)})
      ) end as asset
    from webdav_files f left join assets a on a.id = f.asset_id left join lateral (
      select c.* from assets c where ${IS_SAME_FILE} order by c.deleted_at is not null, c.updated_at desc, c.id desc limit 1) n on true
    where f.user_id = ${ownerId(caller)} and ${condition} order by f.folded`.execute(db)
  return rows
}

export const selectAll = (owner: Owner): Promise<FileRow[]> => selectWhere(owner, sql<boolean>`true`)

/** Selects the paths below a folder, which ends with a slash. */
export const selectBelow = (owner: Owner, folder: string): Promise<FileRow[]> =>
  selectWhere(owner, sql<boolean>`f.folded like ${`${escapeLike(folder)}%`}`)

export async function selectByPath (owner: Owner, folded: string): Promise<FileRow | null> {
  return (await selectWhere(owner, sql<boolean>`f.folded = ${folded}`))[0] ?? null
}

export async function selectById (owner: Owner, id: number): Promise<FileRow | null> {
  return (await selectWhere(owner, sql<boolean>`f.id = ${id}`))[0] ?? null
}

/** Selects those of these paths that were deleted. */
export const selectDeleted = (owner: Owner, ids: readonly number[]): Promise<FileRow[]> =>
  selectWhere(owner, sql<boolean>`f.id = any(${ids}::int[]) and (f.deleted_at is not null or n.deleted_by = 'owner')`)

/** Matches live assets that never had a ROM. */
const isUnassigned = (alias: string) => sql<boolean>`(${sql.ref(`${alias}.rom_id`)} is null
  and ${sql.ref(`${alias}.deleted_at`)} is null and ${sql.ref(`${alias}.platform_fs_slug`)} = ${NO_PLATFORM})`

/** Selects the paths whose asset never had a ROM. */
export const selectUnassigned = (owner: Owner): Promise<FileRow[]> =>
  selectWhere(owner, sql<boolean>`n.id is not null and ${isUnassigned('n')}`)

/** Selects the ids of users with paths whose asset never had a ROM. */
export async function selectUnassignedUsers (db: Db): Promise<number[]> {
  const { rows } = await sql<{ user_id: number }>`select distinct f.user_id from webdav_files f
    join assets a on a.id = f.asset_id where ${isUnassigned('a')} order by 1`.execute(db)
  return rows.map((row) => row.user_id)
}

/**
 * Locks the files of a user until the transaction ends. Writers take this lock before any other. Locks of single paths
 * deadlock, because a device sends several files at once and a burst of deletions restores files of other paths.
 */
export async function lockFiles (tx: Db, userId: number): Promise<void> {
  await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`webdav:${userId}`])
}

/**
 * Locks the files of a user until the transaction ends, and creates the row of a path if there is none.
 *
 * @returns null if the user has the maximum number of paths
 */
export async function lockPath (
  tx: Db, userId: number, { path, folded }: Pick<FileRow, 'path' | 'folded'>, pathsMax: number
): Promise<number | null> {
  await lockFiles(tx, userId)
  const find = async () => (await tx.query<{ id: number }>(
    'select id from webdav_files where user_id = $1 and folded = $2 for no key update', [userId, folded])).rows[0]?.id
  const found = await find()
  if (found !== undefined) return found
  await tx.query(`insert into webdav_files (user_id, path, folded) select $1, $2, $3
    where (select count(*) from webdav_files where user_id = $1) < $4 on conflict (user_id, folded) do nothing`,
  [userId, path, folded, pathsMax])
  return await find() ?? null
}

export type StoredContent = Pick<FileRow, 'sha1' | 'md5' | 'file_size_bytes'> &
  { asset_id: number | null, rom_id: number | null, disk_path: string | null }

/** Stores the content of a path, which is then no longer deleted. */
export async function storeContent (tx: Db, id: number, content: StoredContent): Promise<void> {
  await tx.query(`update webdav_files set sha1 = $2, md5 = $3, file_size_bytes = $4, asset_id = $5, rom_id = coalesce($6, rom_id),
    disk_path = $7, deleted_at = null, updated_at = now() where id = $1`,
  [id, content.sha1, content.md5, content.file_size_bytes, content.asset_id, content.rom_id, content.disk_path])
}

export async function storeRom (tx: Db, id: number, romId: number, assetId: number): Promise<void> {
  await tx.query('update webdav_files set rom_id = $2, asset_id = $3, updated_at = now() where id = $1', [id, romId, assetId])
}

/** Stores whether the owner deleted a path; the first time of a deletion stays. */
export async function storeDeletion (tx: Db, id: number, isDeleted: boolean): Promise<void> {
  await tx.query('update webdav_files set deleted_at = case when $2::boolean then coalesce(deleted_at, now()) end where id = $1', [id, isDeleted])
}

/** A change of what the server knows about the content of a path. */
export type Observed = Pick<FileRow, 'id' | 'sha1' | 'md5' | 'file_size_bytes' | 'is_deleted' | 'updated_at'> &
  { asset_id: number | null }

/** Stores hashes, assets and deletions that changed by other means than WebDAV. Rows stored meanwhile stay. */
export async function storeObserved (db: Db, files: readonly Observed[]): Promise<void> {
  if (files.length === 0) return
  await sql`update webdav_files f set sha1 = given.sha1, md5 = given.md5, file_size_bytes = given.size,
      asset_id = given.asset_id, updated_at = now(),
      deleted_at = case when given.is_deleted then coalesce(f.deleted_at, now()) end
    from unnest(${files.map((file) => file.id)}::int[], ${files.map((file) => file.sha1)}::text[],
      ${files.map((file) => file.md5)}::text[], ${files.map((file) => file.file_size_bytes)}::bigint[],
      ${files.map((file) => file.asset_id)}::int[], ${files.map((file) => file.is_deleted)}::boolean[],
      ${files.map((file) => file.updated_at)}::float8[]) as given (id, sha1, md5, size, asset_id, is_deleted, updated_at)
    where f.id = given.id and ${selectMilliseconds('f.updated_at')} = given.updated_at`.execute(db)
}

export type ListingRow = DeviceState & { file_id: number }

/** Selects the state of a device for all paths, or for one. */
export async function selectListings (
  db: Db, deviceId: number, fileId: number | null
): Promise<Map<number, ListingRow>> {
  const { rows } = await sql<ListingRow>`select file_id, listed, held, is_sent, misses from webdav_listings
    where device_id = ${deviceId} and (${fileId}::int is null or file_id = ${fileId})`.execute(db)
  return new Map(rows.map((row) => [row.file_id, row]))
}

/** Stores the entries of a list for a device. Once told of other content, the device may no longer have its own. */
export async function storeListed (
  db: Db, deviceId: number, entries: readonly (ListEntry & { file_id: number })[]
): Promise<void> {
  if (entries.length === 0) return
  await sql`insert into webdav_listings (device_id, file_id, listed, misses)
    select ${deviceId}::int, given.file_id, given.listed, given.misses
    from unnest(${entries.map((entry) => entry.file_id)}::int[], ${entries.map((entry) => entry.listed)}::text[],
      ${entries.map((entry) => entry.misses)}::int[]) as given (file_id, listed, misses)
    join webdav_files f on f.id = given.file_id order by given.file_id for key share of f
    on conflict (device_id, file_id) do update set listed = excluded.listed, misses = excluded.misses,
      is_sent = webdav_listings.is_sent and coalesce(excluded.listed = webdav_listings.held, true)`.execute(db)
}

/** Stores the content that a device sent. */
export async function storeHeld (db: Db, deviceId: number, fileId: number, sha1: string): Promise<void> {
  await db.query(`insert into webdav_listings (device_id, file_id, held, is_sent) values ($1, $2, $3, true)
    on conflict (device_id, file_id) do update set held = excluded.held, is_sent = true, deleted_at = null`, [deviceId, fileId, sha1])
}

/** Stores that a device has the current content, because it fetched that content or sent it. */
export async function storeSeen (
  db: Db, { deviceId, fileId, sha1, isSent }: { deviceId: number, fileId: number, sha1: string, isSent: boolean }
): Promise<void> {
  await db.query(`insert into webdav_listings (device_id, file_id, listed, held, is_sent) values ($1, $2, $3, $3, $4)
    on conflict (device_id, file_id) do update
    set listed = excluded.listed, held = excluded.held, is_sent = excluded.is_sent, misses = 0, deleted_at = null`,
  [deviceId, fileId, sha1, isSent])
}

/** Stores that a device deleted a path. @returns the paths that it deleted in the last seconds, this one included */
export async function storeDeviceDeletion (
  tx: Db, { deviceId, fileId, seconds }: { deviceId: number, fileId: number, seconds: number }
): Promise<number[]> {
  await tx.query(`insert into webdav_listings (device_id, file_id, deleted_at) values ($1, $2, now())
    on conflict (device_id, file_id) do update set deleted_at = excluded.deleted_at`, [deviceId, fileId])
  const { rows } = await tx.query<{ file_id: number }>(`select file_id from webdav_listings
    where device_id = $1 and deleted_at > now() - make_interval(secs => $2)`, [deviceId, seconds])
  return rows.map((row) => row.file_id)
}

/** Counts the live paths of a user, besides those that the device deleted in the last seconds. */
export async function countLive (tx: Db, userId: number): Promise<number> {
  const { rows: [row] } = await tx.query<{ count: number }>(`select count(*)::int as count from webdav_files f
    left join assets a on a.id = f.asset_id
    where f.user_id = $1 and f.deleted_at is null and (f.disk_path is not null or (a.id is not null and a.deleted_at is null))`, [userId])
  return row?.count ?? 0
}

/** Selects the assets that hold the file of an asset: live ones, or those that the owner deleted lately. */
export async function selectSameFile (tx: Db, assetId: number, deletedWithin: number | null): Promise<number[]> {
  const state = deletedWithin === null
    ? sql<boolean>`c.deleted_at is null`
    : sql<boolean>`c.deleted_by = 'owner' and c.deleted_at > now() - make_interval(secs => ${deletedWithin})`
  const { rows } = await sql<{ id: number }>`select c.id from assets a join assets c on ${IS_SAME_FILE}
    where a.id = ${assetId} and ${state} order by c.id`.execute(tx)
  return rows.map((row) => row.id)
}

/** Selects the time when an asset had this content as a former one, in milliseconds since 1970; null for never. */
export async function selectFormer (tx: Db, assetId: number, sha1: string): Promise<number | null> {
  const { rows: [row] } = await sql<{ updated_at: number }>`select ${selectMilliseconds('h.at')} as updated_at from assets a
    join assets c on (${IS_SAME_FILE}) or c.conflict_of = a.id
    join lateral (select v.content_updated_at as at from asset_versions v where v.asset_id = c.id and v.sha1 = ${sha1}
      union all select c.updated_at where c.sha1 = ${sha1} and c.id <> a.id) h on true
    where a.id = ${assetId} order by h.at desc limit 1`.execute(tx)
  return row?.updated_at ?? null
}

/** A live asset of a ROM that no path has yet. */
export interface UnclaimedAsset extends Pick<Asset, 'id' | 'kind' | 'file_name' | 'sha1'> {
  rom_id: number
  slot: string | null
  emulator: string | null
  fs_name_no_ext: string
}

/** Selects live assets of visible ROMs that no path has, newest first. @param romId null for all ROMs */
export async function selectUnclaimed ({ db, caller }: Owner, romId: number | null): Promise<UnclaimedAsset[]> {
  const { rows } = await sql<UnclaimedAsset>`select c.id, c.kind, c.file_name, c.sha1, c.rom_id, c.slot, c.emulator, r.fs_name_no_ext
    from assets c join roms r on r.id = c.rom_id
    where c.user_id = ${ownerId(caller)} and c.deleted_at is null and c.conflict_of is null and not c.is_gallery
      and (${romId}::int is null or c.rom_id = ${romId}) and ${isRomVisible(caller)}
      and not exists (select 1 from webdav_files f join assets a on a.id = f.asset_id where ${IS_SAME_FILE})
    order by c.updated_at desc, c.id desc`.execute(db)
  return rows
}

/** True if a slot of a ROM has live saves. */
export async function hasSlot ({ db, caller }: Owner, romId: number, slot: string): Promise<boolean> {
  const { rows } = await sql`select 1 from assets where user_id = ${ownerId(caller)} and rom_id = ${romId} and kind = 'save'
    and slot = ${slot} and deleted_at is null limit 1`.execute(db)
  return rows.length > 0
}

/** Creates paths for assets of other apps. A path without live content gets the asset as its content. */
export async function insertPaths (
  db: Db, userId: number, paths: readonly { path: string, folded: string, asset_id: number, rom_id: number }[]
): Promise<void> {
  if (paths.length === 0) return
  await sql`insert into webdav_files (user_id, path, folded, asset_id, rom_id)
    select ${userId}::int, given.* from unnest(${paths.map((one) => one.path)}::text[], ${paths.map((one) => one.folded)}::text[],
      ${paths.map((one) => one.asset_id)}::int[], ${paths.map((one) => one.rom_id)}::int[])
      as given (path, folded, asset_id, rom_id)
    on conflict (user_id, folded) do update set asset_id = excluded.asset_id, rom_id = excluded.rom_id, deleted_at = null
    where webdav_files.disk_path is null
      and not exists (select 1 from assets a where a.id = webdav_files.asset_id and a.deleted_at is null)`.execute(db)
}

/** Names without differences of case and Unicode form, as indexes have them. */
const fold = (name: RawBuilder<unknown>) => sql`lower(normalize(${name}))`
const foldAll = (names: readonly string[]) => sql`array(select ${fold(sql`n`)} from unnest(${names}::text[]) n)`

async function selectNamed (
  { db, caller }: Owner, stems: RawBuilder<unknown>, folded: RawBuilder<unknown>
): Promise<RomCandidate[]> {
  const { rows } = await sql<RomCandidate>`select r.id as rom_id, coalesce(r.name, r.fs_name_no_tags) as rom_name, p.slug, p.fs_slug,
      array_agg(distinct s.stem) as stems
    from (${stems}) s join roms r on r.id = s.id join platforms p on p.id = r.platform_id
    where ${fold(sql`s.stem`)} = any(${folded}) and ${isRomVisible(caller)} group by r.id, p.id order by r.id`.execute(db)
  return rows
}

/** Selects the visible ROMs with one of these names, with or without extension, by the index of names without. */
export function selectCandidates (owner: Owner, names: readonly string[]): Promise<RomCandidate[]> {
  return selectNamed(owner, sql`select id, unnest(array[fs_name, fs_name_no_ext]) as stem from roms
    where ${fold(sql`fs_name_no_ext`)} = any(${foldAll(names.flatMap(listStems))})`, foldAll(names))
}

/** Selects the visible ROMs that have a file or archive member with one of these names, by indexes. */
export function selectCandidatesByFile (owner: Owner, names: readonly string[]): Promise<RomCandidate[]> {
  const folded = foldAll(names)
  const stemOf = (name: RawBuilder<unknown>) => sql`regexp_replace(${name}, '\\.[^.]*$', '')`
  return selectNamed(owner, sql`select rom_id as id, ${stemOf(sql`file_name`)} as stem from rom_files
      where ${fold(stemOf(sql`file_name`))} = any(${folded})
    union all select f.rom_id, ${stemOf(sql`regexp_replace(m->>'name', '^.*/', '')`)} from rom_files f
      cross join lateral jsonb_array_elements(f.archive_members) m
      where jsonb_typeof(f.archive_members) = 'array' and archive_member_stems(f.archive_members) && ${folded}`, folded)
}

/** Returns the bytes that a user stores outside of assets. */
export async function countOwnBytes (tx: Db, userId: number): Promise<number> {
  const { rows: [row] } = await tx.query<{ bytes: string }>(
    'select coalesce(sum(file_size_bytes), 0) as bytes from webdav_files where user_id = $1 and disk_path is not null', [userId])
  return Number(row?.bytes ?? 0)
}

/** Forgets the content of deleted paths outside of assets. @returns the paths of their files below the assets folder */
export async function dropDeleted (tx: Db, userId: number): Promise<string[]> {
  const { rows } = await tx.query<{ disk_path: string }>(`update webdav_files f set disk_path = null from webdav_files o
    where o.id = f.id and f.user_id = $1 and f.disk_path is not null and f.deleted_at is not null returning o.disk_path`, [userId])
  return rows.map((row) => row.disk_path)
}

export async function selectDiskPaths (tx: Db, userId: number): Promise<string[]> {
  const { rows } = await tx.query<{ disk_path: string }>(
    'select disk_path from webdav_files where user_id = $1 and disk_path is not null', [userId])
  return rows.map((row) => row.disk_path)
}

/** Selects the paths of all files outside of assets, of all users. */
export async function selectAllDiskPaths (db: Db): Promise<string[]> {
  const { rows } = await db.query<{ disk_path: string }>('select disk_path from webdav_files where disk_path is not null')
  return rows.map((row) => row.disk_path)
}
