import { extname } from 'node:path'
import type { Db } from '../../core/database/db.ts'
import { inTransaction } from '../../core/database/transaction.ts'
import type { ParsedName } from '../library/names.ts'

/** A ROM and its new name on disk. */
export interface RomRename {
  rom_id: number
  library_id: number
  platform_id: number
  fs_path: string
  /** The current name. */
  old_name: string
  new_name: string
  is_folder: boolean
}

/**
 * Stores the start of a rename.
 *
 * @returns true if the name is free: no ROM has it, and no rename in progress uses it
 */
export async function insertRename (
  db: Db, { rom_id: id, library_id: library, platform_id: platform, new_name: name }: RomRename
): Promise<boolean> {
  const { rowCount } = await db.query(`insert into rom_renames (rom_id, platform_id, fs_name) select $1, $2, $3
    where not exists (select 1 from roms where platform_id = $2 and fs_name = $3 and library_id = $4 and id <> $1)
    on conflict do nothing`, [id, platform, name, library])
  return rowCount === 1
}

export async function deleteRename (db: Db, romId: number): Promise<void> {
  await db.query('delete from rom_renames where rom_id = $1', [romId])
}

/** True if a ROM has another name now, or is being renamed. Locks its row, if there is one. */
export async function hasMoved (
  tx: Db, { id, fs_name: name }: { id: number, fs_name: string }
): Promise<boolean> {
  const { rows: [row] } = await tx.query<{ has_moved: boolean }>(`select r.fs_name <> $2
      or exists (select 1 from rom_renames n where n.rom_id = r.id) as has_moved
    from roms r where r.id = $1 for update of r`, [id, name])
  return row?.has_moved ?? false
}

/**
 * Loads renames that began and did not finish.
 *
 * @param next a rename to begin: only renames of the same ROM, or from or to its new name, are loaded; null for all
 */
export async function selectRenames (db: Db, next: RomRename | null): Promise<RomRename[]> {
  const { rows } = await db.query<RomRename>(`select n.rom_id, r.library_id, r.platform_id, r.fs_path, r.fs_name as old_name,
      n.fs_name as new_name, r.is_folder
    from rom_renames n join roms r on r.id = n.rom_id
    where $1::int is null or n.rom_id = $1 or (r.platform_id = $2 and $3 in (n.fs_name, r.fs_name))
    order by n.rom_id`, [next?.rom_id, next?.platform_id, next?.new_name])
  return rows
}

/** Deletes the duplicate row of a scan that found the file under its new name before the rename finished. */
const DELETE_TWIN = `delete from roms where platform_id = $2 and fs_name = $3 and library_id = $4 and id <> $1
  and created_at >= (select created_at from rom_renames where rom_id = $1)`

/** True if a ROM's name comes from its file: it has no match, and no lock on its name. */
const FOLLOWS_FILE = "(name in (fs_name_no_tags, fs_name) and not is_identified and not own_fields && '{name}')"

/** The file is there under its new name, even if a scan during the rename found no file under the former one. */
const UPDATE_ROM = `update roms set missing_from_fs = false, fs_name = $2, fs_name_no_ext = $3, fs_extension = $5, regions = $6, languages = $7,
    tags = $8, revision = $9, version = $10, edits = edits + 1, updated_at = now(), fs_name_no_tags = $4,
    name = case when ${FOLLOWS_FILE} then $4 else name end,
    name_sort_key = case when ${FOLLOWS_FILE} and not own_fields && '{name_sort_key}' then $11 else name_sort_key end
  where id = $1`

/** The files of a folder keep their names and get a new path. */
const MOVE_FILES = `update rom_files set file_path = $2 || substr(file_path, length($3) + 1), updated_at = now()
  where rom_id = $1 and (file_path = $3 or starts_with(file_path, $3 || '/'))`
/** The next scan reads a file without an inode again, because the extension decides how a file is hashed. */
const RENAME_FILE = `update rom_files set file_name = $2, updated_at = now(), inode = case when $5 then '' else inode end
  where rom_id = $1 and file_path = $3 and file_name = $4`

const hasOtherExtension = (before: string, after: string) =>
  extname(before).toLowerCase() !== extname(after).toLowerCase()

/** Writes the new name of a ROM after its file was renamed. */
export async function finishRename (
  db: Db, renaming: RomRename, name: ParsedName & { sort_key: string }
): Promise<void> {
  const { rom_id: id, fs_path: folder, old_name: before, new_name: after } = renaming
  await inTransaction(db, async (tx) => {
    await tx.query(DELETE_TWIN, [id, renaming.platform_id, after, renaming.library_id])
    await tx.query(UPDATE_ROM, [id, after, name.fs_name_no_ext, name.fs_name_no_tags, name.fs_extension,
      name.regions, name.languages, name.tags, name.revision, name.version, name.sort_key])
    if (renaming.is_folder) await tx.query(MOVE_FILES, [id, `${folder}/${after}`, `${folder}/${before}`])
    else await tx.query(RENAME_FILE, [id, after, folder, before, hasOtherExtension(before, after)])
    await tx.query('delete from rom_renames where rom_id = $1', [id])
  })
}
