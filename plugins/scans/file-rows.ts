import type { ArchiveMember } from '../../core/archives/types.ts'
import type { Db } from '../../core/database/db.ts'
import { toDatabaseJson } from '../../core/database/json.ts'

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

/** A file of a stored ROM; undefined if the row of the ROM is gone. */
export type RomFileRow = FileRow & { rom_id: number | undefined }

const FILE_COLUMNS = `rom_id int, file_name text, file_path text, file_size_bytes bigint, last_modified double precision,
  inode text, is_top_level boolean, category text, crc_hash text, md5_hash text, sha1_hash text, ra_hash text,
  chd_sha1_hash text, archive_members jsonb`

/** `xmax = 0` tells a row that was inserted from one that was updated. */
const UPSERT_FILES = `insert into rom_files (rom_id, file_name, file_path, file_size_bytes, last_modified, inode,
    is_top_level, category, crc_hash, md5_hash, sha1_hash, ra_hash, chd_sha1_hash, archive_members)
  select rom_id, file_name, file_path, file_size_bytes, to_timestamp(last_modified / 1000), inode, is_top_level, category,
    crc_hash, md5_hash, sha1_hash, ra_hash, chd_sha1_hash, nullif(archive_members, 'null'::jsonb)
  from json_to_recordset($1::json) as f(${FILE_COLUMNS})
  on conflict (rom_id, file_path, file_name) do update set file_size_bytes = excluded.file_size_bytes,
    last_modified = excluded.last_modified, inode = excluded.inode, is_top_level = excluded.is_top_level,
    category = excluded.category, crc_hash = excluded.crc_hash, md5_hash = excluded.md5_hash,
    sha1_hash = excluded.sha1_hash, ra_hash = excluded.ra_hash, chd_sha1_hash = excluded.chd_sha1_hash,
    archive_members = excluded.archive_members, updated_at = now(),
    track_meta = case when excluded.category = 'soundtrack' then rom_files.track_meta end
  returning rom_id, xmax = 0 as is_new`

/** A file that moved within its ROM keeps its row: the same content, the old name gone, the new one new. */
const RENAME_FILES = `with wanted as (
    select * from json_to_recordset($2::json) as f(rom_id int, file_path text, file_name text, sha1_hash text)
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
  select 1 from json_to_recordset($2::json) as f(rom_id int, file_path text, file_name text)
  where f.rom_id = rom_files.rom_id and f.file_path = rom_files.file_path and f.file_name = rom_files.file_name)
  returning rom_id, track_meta ->> 'cover_path' as cover_path`

/** The changes of files by one write. */
interface FileChanges {
  /** Number of new files by ROM. */
  added: ReadonlyMap<number, number>
  /** Covers of music whose files are gone, by ROM. */
  deletedCovers: ReadonlyMap<number, readonly string[]>
}

/**
 * Writes files of ROMs. The files of ROMs that had a row already replace all their former files.
 *
 * @param updatedIds the ROMs that had a row already
 */
export async function writeFiles (
  tx: Db, rows: readonly RomFileRow[], updatedIds: readonly number[]
): Promise<FileChanges> {
  const files = toDatabaseJson(rows)
  if (updatedIds.length > 0) await tx.query(RENAME_FILES, [updatedIds, files])
  const { rows: written } = await tx.query<{ rom_id: number, is_new: boolean }>(UPSERT_FILES, [files])
  const gone = updatedIds.length > 0
    ? (await tx.query<{ rom_id: number, cover_path: string | null }>(DELETE_FILES, [updatedIds, files])).rows
    : []
  const added = Map.groupBy(written.filter((file) => file.is_new), (file) => file.rom_id)
  const covers = Map.groupBy(gone, (file) => file.rom_id)
  return {
    added: new Map([...added].map(([id, list]) => [id, list.length])),
    deletedCovers: new Map([...covers].map(([id, list]) => [id, list.flatMap(({ cover_path: path }) => path ?? [])]))
  }
}
