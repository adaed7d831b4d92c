import type { Db } from '../../core/database/db.ts'
import { toDatabaseJson } from '../../core/database/json.ts'
import { inTransaction } from '../../core/database/transaction.ts'
import type { RomValues } from '../roms/entities.ts'
import { reattachUploadsOfReturning } from '../assets/reattach-rows.ts'
import { type FormerRom, type ReturningRom, applyLocks, claimFormerIds } from '../roms/former-rows.ts'
import { ARTWORK_PATHS, declareRomColumns, romColumnsIn } from '../roms/rom-columns.ts'
import { type FileRow, writeFiles } from './file-rows.ts'
import type { PlatformFolderRef } from './rom-rows.ts'

/** A row to write, with all values that follow from the disk. */
export interface RomRow extends RomValues<typeof DISK_COLUMNS[number]> {
  /** The row to update; null to insert. */
  id: number | null
  /** The name of the row to update, as it was read. If it has another name by now, nothing is written. */
  stored_name: string | null
  name_sort_key: string
  /** True if the tags of the file name are written to an existing row. */
  writes_tags: boolean
}

export interface RomWrite { row: RomRow, files: readonly FileRow[] }
export interface RomWriteResult {
  id: number
  fs_name: string
  newFiles: number
  /** Covers of music whose files are gone, in the resources folder. */
  deletedCovers: readonly string[]
}

const [ENTRY_COLUMNS, TAG_COLUMNS] = [romColumnsIn('entry'), romColumnsIn('tags')]
const DISK_COLUMNS = [...ENTRY_COLUMNS, ...TAG_COLUMNS]
const DISK_LIST = DISK_COLUMNS.join(', ')
const ROM_RECORD = `id int, stored_name text, ${declareRomColumns([...DISK_COLUMNS, 'name_sort_key'])}, writes_tags boolean, former_id int`

/** Assigns columns, each by its own expression. */
const assign = <Name extends string>(names: readonly Name[], toSql: (name: Name) => string) =>
  names.map((name) => `${name} = ${toSql(name)}`).join(', ')

/** Reads rows as `json`, because `jsonb` would sort the keys of each row first, a third of the time of reading them. */
const INSERT_ROMS = `insert into roms (id, platform_id, library_id, ${DISK_LIST}, name, name_sort_key)
  select coalesce(former_id, nextval('roms_id_seq')), $1, $3, ${DISK_LIST}, fs_name_no_tags, name_sort_key
  from json_to_recordset($2::json) as r(${ROM_RECORD})
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
  from json_to_recordset($1::json) as r(${ROM_RECORD}) where roms.id = r.id and roms.fs_name = r.stored_name
  returning roms.id, roms.fs_name`

/** The id of a written row, by its file name. */
interface WrittenRow { id: number, fs_name: string }

async function insertRoms (
  tx: Db, { id: platformId, library_id: library }: PlatformFolderRef, rows: readonly RomRow[],
  former: ReadonlyMap<string, FormerRom>
): Promise<WrittenRow[]> {
  const records = rows.map((row) => ({ ...row, former_id: former.get(row.fs_name)?.id ?? null }))
  return (await tx.query<WrittenRow>(INSERT_ROMS, [platformId, toDatabaseJson(records), library])).rows
}

async function updateRoms (
  tx: Db, { id: platformId, library_id: library }: PlatformFolderRef, rows: readonly RomRow[]
): Promise<WrittenRow[]> {
  const ids = rows.map(({ id }) => id)
  await tx.query(REBASE_COVERS, [ids, platformId])
  await tx.query(REBASE_ARTWORK, [ids, platformId])
  return (await tx.query<WrittenRow>(UPDATE_ROMS, [toDatabaseJson(rows), platformId, library])).rows
}

/** Returns those of the ROMs that have a row. */
async function selectPresent (tx: Db, ids: readonly (number | null)[]): Promise<Set<number | null>> {
  if (ids.length === 0) return new Set()
  const { rows } = await tx.query<{ id: number }>('select id from roms where id = any($1::int[])', [ids])
  return new Set(rows.map(({ id }) => id))
}

/**
 * Writes rows with their files in one transaction; deletes other files of these ROMs. ROMs that a person renamed after
 * they were read stay as they are, and are not returned.
 */
export async function writeRoms (
  db: Db, folder: PlatformFolderRef, roms: readonly RomWrite[]
): Promise<RomWriteResult[]> {
  return await inTransaction(db, async (tx) => {
    const rows = roms.map(({ row }) => row)
    const [added, known] = [rows.filter(({ id }) => id === null), rows.filter(({ id }) => id !== null)]
    const former = added.length > 0 ? await claimFormerIds(tx, folder, added) : new Map<string, ReturningRom>()
    const inserted = added.length > 0 ? await insertRoms(tx, folder, added, former) : []
    await applyLocks(tx, former.values())
    await reattachUploadsOfReturning(tx, former.values())
    const updated = known.length > 0 ? await updateRoms(tx, folder, known) : []
    const ids = new Map([...inserted, ...updated].map(({ id, fs_name: name }) => [name, id]))
    const renamed = await selectPresent(tx, known.filter((row) => !ids.has(row.fs_name)).map(({ id }) => id))
    // The write fails if one of the rows is gone, because its files then have no `rom_id`; the scan reports the ROM.
    const files = roms.filter(({ row }) => !renamed.has(row.id))
      .flatMap((rom) => rom.files.map((file) => ({ ...file, rom_id: ids.get(rom.row.fs_name) })))
    const changes = await writeFiles(tx, files, updated.map(({ id }) => id))
    return [...ids].map(([name, id]) => ({
      id,
      fs_name: name,
      newFiles: changes.added.get(id) ?? 0,
      deletedCovers: changes.deletedCovers.get(id) ?? []
    }))
  })
}
