import type { ArchiveMember } from '../../core/archives/types.ts'
import type { Db } from '../../core/database/db.ts'
import { inTransaction } from '../../core/database/transaction.ts'
import type { Rom, RomValues } from '../roms/entities.ts'
import { applyLocks, claimFormerIds } from '../roms/former-rows.ts'
import { ARTWORK_PATHS, declareRomColumns, romColumnsIn } from '../roms/rom-columns.ts'
import { toDatabaseJson } from '../../core/database/json.ts'

/** The stored data that the scan needs of every ROM of a platform. */
export interface StoredRomSummary {
  id: number
  fs_name: string
  missing_from_fs: boolean
  is_identified: boolean
  /** True if this scan added the ROM, even if that was before its worker went down. */
  is_fresh: boolean
  /** Keys of the providers that matched it. */
  providers: string[]
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

/** A row to write, with all values that follow from the disk. */
export interface RomRow extends RomValues<typeof DISK_COLUMNS[number]> {
  /** The row to update; null to insert. */
  id: number | null
  name_sort_key: string
  /** True if the tags of the file name are written to an existing row. */
  writes_tags: boolean
}

export interface FileRow {
  file_name: string
  file_path: string
  file_size_bytes: number
  last_modified: number
  inode: string
  is_top_level: boolean
  category: string | null
  crc_hash: string
  md5_hash: string
  sha1_hash: string
  ra_hash: string | null
  chd_sha1_hash: string | null
  archive_members: ArchiveMember[] | null
}

export interface RomWrite { row: RomRow, files: readonly FileRow[] }
export interface RomWriteResult {
  id: number
  fs_name: string
  newFiles: number
  /** Covers of music whose files are gone, in the resources folder. */
  deletedCovers: string[]
}

const [ENTRY_COLUMNS, TAG_COLUMNS] = [romColumnsIn('entry'), romColumnsIn('tags')]
const DISK_COLUMNS = [...ENTRY_COLUMNS, ...TAG_COLUMNS]
const DISK_LIST = DISK_COLUMNS.join(', ')
const ROM_RECORD = `id int, ${declareRomColumns([...DISK_COLUMNS, 'name_sort_key'])}, writes_tags boolean, former_id int`

/** Assigns columns, each by its own expression. */
const assign = <Name extends string>(names: readonly Name[], toSql: (name: Name) => string) =>
  names.map((name) => `${name} = ${toSql(name)}`).join(', ')

const INSERT_ROMS = `insert into roms (id, platform_id, library_id, ${DISK_LIST}, name, name_sort_key)
  select coalesce(former_id, nextval('roms_id_seq')), $1, $3, ${DISK_LIST}, fs_name_no_tags, name_sort_key
  from jsonb_to_recordset($2::jsonb) as r(${ROM_RECORD}) where id is null
  on conflict (platform_id, fs_name, library_id) do update set
    ${assign(romColumnsIn('content'), (name) => `excluded.${name}`)}, missing_from_fs = false, updated_at = now()
  returning id, fs_name`

/**
 * Returns SQL that moves a path of stored artwork to platform $2. The path starts with the folders of platform and ROM.
 */
const rebased = (path: string) =>
  `replace(${path}, 'roms/' || platform_id || '/' || id || '/', 'roms/' || $2::int || '/' || id || '/')`

const rebasedColumn = ({ name, isList }: typeof ARTWORK_PATHS[number]) => `${name} = ` + (isList
  ? `array(select ${rebased('path')} from unnest(${name}) with ordinality as s(path, n) order by n)`
  : rebased(name))

/** Moves paths of artwork; runs before the update that changes the platform, in the same transaction. */
const REBASE_ARTWORK = `update roms set ${ARTWORK_PATHS.map(rebasedColumn).join(', ')},
    media = (${rebased('media::text')})::jsonb
  where id = any($1::int[]) and platform_id <> $2`

/** Moves paths of the covers of a ROM's music to its new platform. */
const REBASE_COVERS = `update rom_files f set track_meta = jsonb_set(f.track_meta, '{cover_path}', to_jsonb(replace(
    f.track_meta ->> 'cover_path', 'roms/' || r.platform_id || '/' || r.id || '/', 'roms/' || $2::int || '/' || r.id || '/')))
  from roms r where r.id = f.rom_id and f.rom_id = any($1::int[]) and r.platform_id <> $2
    and f.track_meta ->> 'cover_path' is not null`

/** True if a ROM has the name of its file. */
const FOLLOWS_FILE =
  "(roms.name = roms.fs_name_no_tags and not roms.is_identified and not roms.own_fields && '{name}')"

const UPDATE_ROMS = `update roms set platform_id = $2, library_id = $3, ${assign(ENTRY_COLUMNS, (name) => `r.${name}`)},
    ${assign(TAG_COLUMNS, (name) => `case when r.writes_tags then r.${name} else roms.${name} end`)},
    name = case when ${FOLLOWS_FILE} then r.fs_name_no_tags else roms.name end,
    name_sort_key = case when ${FOLLOWS_FILE} and not roms.own_fields && '{name_sort_key}' then r.name_sort_key
      else roms.name_sort_key end,
    missing_from_fs = false, updated_at = now()
  from jsonb_to_recordset($1::jsonb) as r(${ROM_RECORD}) where roms.id = r.id returning roms.id, roms.fs_name`

const FILE_COLUMNS = `rom_id int, file_name text, file_path text, file_size_bytes bigint, last_modified double precision,
  inode text, is_top_level boolean, category text, crc_hash text, md5_hash text, sha1_hash text, ra_hash text,
  chd_sha1_hash text, archive_members jsonb`

/** `xmax = 0` tells a row that was inserted from one that was updated. */
const UPSERT_FILES = `insert into rom_files (rom_id, file_name, file_path, file_size_bytes, last_modified, inode,
    is_top_level, category, crc_hash, md5_hash, sha1_hash, ra_hash, chd_sha1_hash, archive_members)
  select rom_id, file_name, file_path, file_size_bytes, to_timestamp(last_modified / 1000), inode, is_top_level, category,
    crc_hash, md5_hash, sha1_hash, ra_hash, chd_sha1_hash, nullif(archive_members, 'null'::jsonb)
  from jsonb_to_recordset($1::jsonb) as f(${FILE_COLUMNS})
  on conflict (rom_id, file_path, file_name) do update set file_size_bytes = excluded.file_size_bytes,
    last_modified = excluded.last_modified, inode = excluded.inode, is_top_level = excluded.is_top_level,
    category = excluded.category, crc_hash = excluded.crc_hash, md5_hash = excluded.md5_hash,
    sha1_hash = excluded.sha1_hash, ra_hash = excluded.ra_hash, chd_sha1_hash = excluded.chd_sha1_hash,
    archive_members = excluded.archive_members, updated_at = now(),
    track_meta = case when excluded.category = 'soundtrack' then rom_files.track_meta end
  returning rom_id, xmax = 0 as is_new`

/** A file that moved within its ROM keeps its row: the same content, the old name gone, the new one new. */
const RENAME_FILES = `with wanted as (
    select * from jsonb_to_recordset($2::jsonb) as f(rom_id int, file_path text, file_name text, sha1_hash text)
    where sha1_hash <> ''
  ), added as (
    select w.*, row_number() over (partition by rom_id, sha1_hash order by file_path, file_name) as n from wanted w
    where not exists (select 1 from rom_files o
      where o.rom_id = w.rom_id and o.file_path = w.file_path and o.file_name = w.file_name)
  ), gone as (
    select o.id, o.rom_id, o.sha1_hash, row_number() over (partition by rom_id, sha1_hash order by id) as n
    from rom_files o where o.rom_id = any($1::int[]) and not exists (select 1 from wanted w
      where o.rom_id = w.rom_id and o.file_path = w.file_path and o.file_name = w.file_name)
  )
  update rom_files set file_path = added.file_path, file_name = added.file_name
  from added join gone using (rom_id, sha1_hash, n) where rom_files.id = gone.id`

const DELETE_FILES = `delete from rom_files where rom_id = any($1::int[]) and not exists (
  select 1 from jsonb_to_recordset($2::jsonb) as f(rom_id int, file_path text, file_name text)
  where f.rom_id = rom_files.rom_id and f.file_path = rom_files.file_path and f.file_name = rom_files.file_name)
  returning rom_id, track_meta ->> 'cover_path' as cover_path`

export function createRomStore (db: Db) {
  return {
    async listKnown ({ id, library_id: library }: PlatformFolderRef, begunAt: Date): Promise<StoredRomSummary[]> {
      const { rows } = await db.query<StoredRomSummary>(`select r.id, r.fs_name, r.missing_from_fs, r.is_identified,
          r.created_at >= $2 as is_fresh,
          array(select m.provider from rom_matches m where m.rom_id = r.id and m.match -> 'is_linked' is null) as providers
        from roms r where r.platform_id = $1 and r.library_id = $3`,
      [id, begunAt, library])
      return rows
    },

    async listFiles (romIds: readonly number[]): Promise<Map<number, StoredFile[]>> {
      const { rows } = await db.query<StoredFile>(`select rom_id, file_name, file_path,
          file_size_bytes::float8 as file_size_bytes, inode,
          round(extract(epoch from last_modified) * 1000)::float8 as last_modified
        from rom_files where rom_id = any($1::int[])`, [romIds])
      return Map.groupBy(rows, (file) => file.rom_id)
    },

    /** The hashes of some ROMs that have all three. */
    async listHashes (romIds: readonly number[]): Promise<RomHashes[]> {
      const { rows } = await db.query<RomHashes>(`select id, fs_size_bytes::float8 as fs_size_bytes, crc_hash,
          md5_hash, sha1_hash from roms
        where id = any($1::int[]) and crc_hash <> '' and md5_hash <> '' and sha1_hash <> ''`, [romIds])
      return rows
    },

    /**
     * Returns ROMs of other platforms or libraries with one of these SHA-1 hashes. The lateral join looks up each hash
     * by the index, even while PostgreSQL has no statistics of the table.
     */
    async listElsewhere (
      { id, library_id: library }: PlatformFolderRef, sha1s: readonly string[]
    ): Promise<LocatedHashes[]> {
      const { rows } = await db.query<LocatedHashes>(`select r.id, r.library_id, r.platform_id, r.fs_path, r.fs_name,
          p.fs_inode,
          r.fs_size_bytes::float8 as fs_size_bytes, r.crc_hash, r.md5_hash, r.sha1_hash
        from (select distinct unnest($2::text[]) as sha1_hash) wanted
        cross join lateral (select * from roms where roms.sha1_hash = wanted.sha1_hash
          and (platform_id, library_id) <> ($1, $3) and crc_hash <> '' and md5_hash <> '' offset 0) r
        left join platform_folders p on p.platform_id = r.platform_id and p.library_id = r.library_id`,
      [id, sha1s, library])
      return rows
    },

    /** Writes rows with their files in one transaction; deletes other files of these ROMs. */
    async write (folder: PlatformFolderRef, roms: readonly RomWrite[]): Promise<RomWriteResult[]> {
      return await inTransaction(db, async (tx) => {
        const { id: platformId, library_id: library } = folder
        const added = roms.flatMap(({ row }) => row.id === null ? [row] : [])
        const former = added.length > 0 ? await claimFormerIds(tx, folder, added) : null
        const formerIdOf = (row: RomRow) => former?.get(row.fs_name)?.id ?? null
        const rows = toDatabaseJson(roms.map(({ row }) => ({ ...row, former_id: formerIdOf(row) })))
        const inserted = added.length > 0
          ? (await tx.query<{ id: number, fs_name: string }>(INSERT_ROMS, [platformId, rows, library])).rows
          : []
        if (former !== null) await applyLocks(tx, former.values())
        const knownIds = roms.flatMap(({ row }) => row.id ?? [])
        if (knownIds.length > 0) {
          await tx.query(REBASE_COVERS, [knownIds, platformId])
          await tx.query(REBASE_ARTWORK, [knownIds, platformId])
        }
        const updated = roms.some(({ row }) => row.id !== null)
          ? (await tx.query<{ id: number, fs_name: string }>(UPDATE_ROMS, [rows, platformId, library])).rows
          : []
        const ids = new Map([...inserted, ...updated].map(({ id, fs_name: name }) => [name, id]))
        const files = toDatabaseJson(roms.flatMap((rom) =>
          rom.files.map((file) => ({ ...file, rom_id: ids.get(rom.row.fs_name) }))))
        const updatedIds = updated.map(({ id }) => id)
        if (updated.length > 0) await tx.query(RENAME_FILES, [updatedIds, files])
        const { rows: written } = await tx.query<{ rom_id: number, is_new: boolean }>(UPSERT_FILES, [files])
        const gone = updated.length > 0
          ? (await tx.query<{ rom_id: number, cover_path: string | null }>(DELETE_FILES, [updatedIds, files])).rows
          : []
        const counts = Map.groupBy(written.filter((file) => file.is_new), (file) => file.rom_id)
        const covers = Map.groupBy(gone, (file) => file.rom_id)
        return [...ids].map(([name, id]) => ({
          id,
          fs_name: name,
          newFiles: counts.get(id)?.length ?? 0,
          deletedCovers: covers.get(id)?.flatMap(({ cover_path: path }) => path ?? []) ?? []
        }))
      })
    },

    async markMissing (ids: readonly number[], isMissing: boolean): Promise<void> {
      if (ids.length === 0) return
      await db.query(`update roms set missing_from_fs = $2, updated_at = now()
        where id = any($1::int[]) and missing_from_fs <> $2`, [ids, isMissing])
    }
  }
}
export type RomStore = ReturnType<typeof createRomStore>
