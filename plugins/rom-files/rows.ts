import { sql } from 'kysely'
import type { Context } from '../../core/access/context.ts'
import type { Db } from '../../core/database/db.ts'
import { inTransaction } from '../../core/database/transaction.ts'
import type { AnyCaller } from '../platforms/visibility.ts'
import type { TrackMeta } from '../roms/entities.ts'
import { hasMoved } from '../renames/rename-rows.ts'
import { isRomVisible } from '../roms/visibility.ts'

/** A ROM whose folder receives a file. */
export interface TargetRom {
  id: number
  library_id: number
  platform_id: number
  fs_name: string
  fs_name_no_ext: string
  fs_path: string
  is_folder: boolean
  platform_fs_slug: string
  path_manual: string | null
  url_manual: string | null
}

/** Loads a ROM; null if it does not exist or is not visible. */
export async function selectTarget ({ db, caller }: Context<AnyCaller>, id: number): Promise<TargetRom | null> {
  const { rows } = await sql<TargetRom>`select r.id, r.library_id, r.platform_id, p.fs_slug as platform_fs_slug, r.fs_name,
      r.fs_name_no_ext, r.fs_path, r.is_folder, r.path_manual, r.url_manual
    from roms r join platforms p on p.id = r.platform_id where r.id = ${id} and ${isRomVisible(caller)}`.execute(db)
  return rows[0] ?? null
}

const TO_FOLDER = `update roms set fs_name = $2, fs_name_no_ext = $2, fs_name_no_tags = $3, fs_extension = $4, is_folder = true,
    has_nested_single_file = true, has_multiple_files = false, edits = edits + 1, updated_at = now() where id = $1`

/** Stores the new folder of a ROM that was one file. */
export async function writeFolder (
  db: Db, { id, fs_path: place }: TargetRom, folder: string, name: { fs_name_no_tags: string, fs_extension: string }
): Promise<void> {
  await inTransaction(db, async (tx) => {
    await tx.query(TO_FOLDER, [id, folder, name.fs_name_no_tags, name.fs_extension])
    await tx.query('update rom_files set file_path = $2, updated_at = now() where rom_id = $1 and file_path = $3',
      [id, `${place}/${folder}`, place])
    await tx.query('delete from rom_renames where rom_id = $1', [id])
  })
}

/** A file in a ROM's folder; `last_modified` in milliseconds. */
export interface AddedFile {
  file_name: string
  file_path: string
  file_size_bytes: number
  last_modified: number
  inode: string
  category: string
  crc_hash: string
  md5_hash: string
  sha1_hash: string
}

const UPSERT = `insert into rom_files (rom_id, file_name, file_path, file_size_bytes, last_modified, inode, is_top_level, category,
    crc_hash, md5_hash, sha1_hash)
  values ($1, $2, $3, $4, to_timestamp($5::float8 / 1000), $6, false, $7, $8, $9, $10)
  on conflict (rom_id, file_path, file_name) do update set file_size_bytes = excluded.file_size_bytes,
    last_modified = excluded.last_modified, inode = excluded.inode, category = excluded.category, crc_hash = excluded.crc_hash,
    md5_hash = excluded.md5_hash, sha1_hash = excluded.sha1_hash, tags_of = null, updated_at = now()
  returning id`

const REFRESH = `update roms set updated_at = now(),
    fs_size_bytes = (select coalesce(sum(file_size_bytes), 0) from rom_files where rom_id = $1),
    has_soundtrack = exists (select 1 from rom_files where rom_id = $1 and category = 'soundtrack'),
    missing_from_fs = missing_from_fs or not exists (select 1 from rom_files where rom_id = $1)
  where id = $1`

/** Clears the inodes, because the next scan reads files without an inode again. */
const READ_AGAIN = "update rom_files set inode = '' where rom_id = $1 and is_top_level"

/**
 * Inserts or updates a file.
 *
 * @returns its id
 */
export async function upsertFile (db: Db, romId: number, file: AddedFile): Promise<number> {
  return await inTransaction(db, async (tx) => {
    const { rows: [row] } = await tx.query<{ id: number }>(UPSERT, [romId, file.file_name, file.file_path,
      file.file_size_bytes, file.last_modified, file.inode, file.category, file.crc_hash, file.md5_hash,
      file.sha1_hash])
    await tx.query(REFRESH, [romId])
    return row?.id ?? 0
  })
}

export interface FoundFile {
  id: number
  file_name: string
  file_path: string
  file_size_bytes: number
  is_top_level: boolean
  category: string | null
  track_meta: TrackMeta | null
}

/** Loads the files of a category, or of any, by name. */
export async function selectFilesOf (db: Db, romId: number, category: string | null): Promise<FoundFile[]> {
  const { rows } = await sql<FoundFile>`select f.id, f.file_name, f.file_path, f.is_top_level, f.category, f.track_meta,
    f.file_size_bytes::float8 as file_size_bytes from rom_files f
    where f.rom_id = ${romId} and (${category}::text is null or f.category = ${category})
    order by f.file_name, f.id`.execute(db)
  return rows
}

/**
 * Deletes the row of a file. The next scan reads the other files again to update the ROM.
 *
 * @param isMoved true if the file was removed from the library; otherwise it may be in another folder by now
 * @returns false if the file is in another folder
 */
export async function deleteFile (
  db: Db, rom: Pick<TargetRom, 'id' | 'fs_name'>, file: Pick<FoundFile, 'id' | 'is_top_level'>, isMoved: boolean
): Promise<boolean> {
  return await inTransaction(db, async (tx) => {
    // Lock the ROM first, in the same order as a deletion of the ROM with its files.
    const isElsewhere = await hasMoved(tx, rom)
    if (!isMoved && isElsewhere) return false
    await tx.query('delete from rom_files where id = $1 and rom_id = $2', [file.id, rom.id])
    if (file.is_top_level) await tx.query(READ_AGAIN, [rom.id])
    await tx.query(REFRESH, [rom.id])
    return true
  })
}

/** Stores a manual that a person added or removed, and locks it against scans. */
export async function writeManual (db: Db, romId: number, path: string | null): Promise<void> {
  await db.query(`update roms set path_manual = $2, url_manual = null, edits = edits + 1, updated_at = now(),
    own_fields = array(select distinct name from unnest(own_fields || '{url_manual}') as name order by name)
    where id = $1`, [romId, path])
}
