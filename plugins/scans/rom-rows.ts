import type { Db } from '../../core/database/db.ts'
import { toDatabaseJson } from '../../core/database/json.ts'
import type { ScanType } from '../matching/scan-types.ts'
import type { Rom } from '../roms/entities.ts'

/** The state of a ROM that this scan, or an unfinished one, added. */
interface LookupState {
  /** True if this scan added the ROM, even if that was before its worker went down. */
  is_fresh: boolean
  /** True if a failed or stopped scan added the ROM and may not have looked it up. */
  is_unfinished: boolean
  /** The number of its files if this scan added the ROM, else 0. */
  fresh_files: number
  /** Keys of the providers that matched it; empty for a ROM of former scans if this scan does not compare matches. */
  providers: string[]
}

/** The stored data that the scan needs of every ROM of a platform. */
export interface StoredRomSummary extends LookupState {
  id: number
  fs_name: string
  missing_from_fs: boolean
  is_identified: boolean
  /** Facts of its file as `toFactsText` writes them; null if it is no file of that name in the platform folder. */
  file_facts: string | null
}

export type RomHashes = Pick<Rom, 'id' | 'fs_size_bytes' | 'crc_hash' | 'md5_hash' | 'sha1_hash'>

/** A platform in one library. */
export interface PlatformFolderRef { id: number, library_id: number }

/** The hashes of a ROM, and the stored place of its file. */
export type LocatedHashes = RomHashes & Pick<Rom, 'library_id' | 'fs_path' | 'fs_name'> & {
  platform_id: number
  /** The inode of the folder that held the platform's ROMs; null if none was stored. */
  fs_inode: string | null
}

/** A file as it is stored; `last_modified` in milliseconds. */
export interface StoredFile {
  rom_id: number
  file_name: string
  file_path: string
  file_size_bytes: number
  last_modified: number
  inode: string
}

const MODIFIED_MS = "round(date_part('epoch', last_modified) * 1000)::bigint"

/** The state of nearly all ROMs, for which the database sends null: reading the columns takes longer than the query. */
const LOOKED_UP: LookupState = { is_fresh: false, is_unfinished: false, fresh_files: 0, providers: [] }

/** Selects only what a scan needs of every ROM, because a quick scan reads little else of unchanged ones. */
const KNOWN = `select r.id, r.fs_name, r.missing_from_fs, r.is_identified,
    case when r.created_at >= $4 or $5 then jsonb_build_object(
      'is_fresh', r.created_at >= $3, 'is_unfinished', r.created_at >= $4 and r.created_at < $3,
      'fresh_files', case when r.created_at >= $3 then (select count(*) from rom_files c where c.rom_id = r.id) else 0 end,
      'providers', array(select m.provider from rom_matches m where m.rom_id = r.id and m.match -> 'is_linked' is null)
    ) end as state,
    'file ' || f.file_size_bytes || ' ' || ${MODIFIED_MS} || ' ' || f.inode as file_facts
  from roms r left join rom_files f on f.rom_id = r.id and f.file_path = r.fs_path and f.file_name = r.fs_name
  where r.platform_id = $1 and r.library_id = $2`

type KnownRow = Omit<StoredRomSummary, keyof LookupState> & { state: LookupState | null }

/** The scan for which ROMs are listed: its first start, the start of the oldest unfinished scan, and its type. */
export interface KnownFor { startedAt: Date, since: Date, type: ScanType }

/** Lists the ROMs of a platform in one library. */
export async function listKnown (
  db: Db, { id, library_id: library }: PlatformFolderRef, { startedAt, since, type }: KnownFor
): Promise<StoredRomSummary[]> {
  const comparesMatches = type === 'update' || type === 'unmatched'
  const { rows } = await db.query<KnownRow>(KNOWN, [id, library, startedAt, since, comparesMatches])
  return rows.map((rom) => Object.assign(rom, rom.state ?? LOOKED_UP))
}

/** Lists the files of ROMs, by ROM. */
export async function listFiles (db: Db, romIds: readonly number[]): Promise<Map<number, StoredFile[]>> {
  const { rows } = await db.query<StoredFile>(`select rom_id, file_name, file_path,
      file_size_bytes::float8 as file_size_bytes, inode,
      (${MODIFIED_MS})::float8 as last_modified
    from rom_files where rom_id = any($1::int[])`, [romIds])
  return Map.groupBy(rows, (file) => file.rom_id)
}

/** Lists the hashes of those of the ROMs that have all three. */
export async function listHashes (db: Db, romIds: readonly number[]): Promise<RomHashes[]> {
  const { rows } = await db.query<RomHashes>(`select id, fs_size_bytes::float8 as fs_size_bytes, crc_hash,
      md5_hash, sha1_hash from roms
    where id = any($1::int[]) and crc_hash <> '' and md5_hash <> '' and sha1_hash <> ''`, [romIds])
  return rows
}

/** Selects ROMs outside platform $1 of library $2. `offset 0` makes PostgreSQL look up each wanted one by the index. */
const selectElsewhere = (wanted: string, condition: string) => `select r.id, r.library_id, r.platform_id, r.fs_path,
    r.fs_name, p.fs_inode, r.fs_size_bytes::float8 as fs_size_bytes, r.crc_hash, r.md5_hash, r.sha1_hash
  from (${wanted}) wanted
  cross join lateral (select * from roms where (platform_id, library_id) <> ($1, $2) and ${condition} offset 0) r
  left join platform_folders p on p.platform_id = r.platform_id and p.library_id = r.library_id`

const ELSEWHERE_BY_HASH = selectElsewhere('select distinct unnest($3::text[]) as sha1_hash',
  "roms.sha1_hash = wanted.sha1_hash and crc_hash <> '' and md5_hash <> ''")

/** The first condition is that of the index `roms_folded_fs_name_no_ext`. */
const ELSEWHERE_BY_NAME = selectElsewhere(
  'select name, lower(normalize(stem)) as stem, size from json_to_recordset($3::json) as w(name text, stem text, size bigint)',
  'lower(normalize(fs_name_no_ext)) = wanted.stem and fs_name = wanted.name and fs_size_bytes = wanted.size')

/**
 * Returns ROMs of other platforms or libraries with one of these SHA-1 hashes. The lateral join looks up each hash
 * by the index, even while PostgreSQL has no statistics of the table.
 */
export async function listElsewhere (
  db: Db, { id, library_id: library }: PlatformFolderRef, sha1s: readonly string[]
): Promise<LocatedHashes[]> {
  return (await db.query<LocatedHashes>(ELSEWHERE_BY_HASH, [id, library, sha1s])).rows
}

/** Returns ROMs of other platforms or libraries with one of these names and its size. */
export async function listNamesakes (
  db: Db, { id, library_id: library }: PlatformFolderRef,
  names: readonly Pick<Rom, 'fs_name' | 'fs_name_no_ext' | 'fs_size_bytes'>[]
): Promise<LocatedHashes[]> {
  const wanted = names.map(({ fs_name: name, fs_name_no_ext: stem, fs_size_bytes: size }) => ({ name, stem, size }))
  return (await db.query<LocatedHashes>(ELSEWHERE_BY_NAME, [id, library, toDatabaseJson(wanted)])).rows
}

/** Marks ROMs as missing or present, except those that have another name by now. */
export async function markMissing (
  db: Db, roms: readonly Pick<StoredRomSummary, 'id' | 'fs_name'>[], isMissing: boolean
): Promise<void> {
  if (roms.length === 0) return
  await db.query(`update roms set missing_from_fs = $3, updated_at = now()
    from unnest($1::int[], $2::text[]) as known (id, fs_name)
    where roms.id = known.id and roms.fs_name = known.fs_name and missing_from_fs <> $3`,
  [roms.map(({ id }) => id), roms.map(({ fs_name: name }) => name), isMissing])
}
