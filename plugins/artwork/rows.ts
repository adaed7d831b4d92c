import type { Db } from '../../core/database/db.ts'
import type { Rom } from '../roms/entities.ts'
import { ARTWORK_PATHS, type RomColumnName, declareRomColumns } from '../roms/rom-columns.ts'

/** The columns with the stored artwork of a ROM. */
const STORED = [
  'path_cover_large', 'path_cover_small', 'path_screenshots', 'path_manual', 'media', 'badges'
] as const satisfies RomColumnName[]
export type StoredArtwork = Pick<Rom, typeof STORED[number]>

const listStored = (table: string) => STORED.map((name) => `${table}.${name}`).join(', ')

const UPDATE = `update roms set ${STORED.map((name) => `${name} = s.${name}`).join(', ')}, updated_at = now()
  from jsonb_to_recordset($1::jsonb) as s(${declareRomColumns(STORED)})
  where roms.id = $2 and roms.edits = $3 and (${listStored('roms')}) is distinct from (${listStored('s')})`

/**
 * Stores the artwork of a ROM, unless the ROM was edited since it was read.
 *
 * @returns true if anything changed
 */
export async function updateArtwork (
  db: Db, rom: Pick<Rom, 'id' | 'edits'>, stored: StoredArtwork
): Promise<boolean> {
  const { rowCount } = await db.query(UPDATE, [JSON.stringify([stored]), rom.id, rom.edits])
  return rowCount === 1
}

/** Stores a medium of a ROM that has none of its kind. @returns false if the ROM has one */
export async function setFirstMedium (tx: Db, id: number, kind: string, path: string): Promise<boolean> {
  const { rowCount } = await tx.query(`update roms set media = media || jsonb_build_object($2::text, jsonb_build_object('url', '', 'path', $3::text)),
    updated_at = now() where id = $1 and media -> $2::text ->> 'path' is null`, [id, kind, path])
  return rowCount > 0
}

/** Adds a screenshot to a ROM for which no provider gave any. @returns false if a provider did */
export async function addFirstScreenshot (tx: Db, id: number, path: string): Promise<boolean> {
  const { rowCount } = await tx.query(`update roms set path_screenshots = path_screenshots || $2::text, updated_at = now()
    where id = $1 and url_screenshots = '{}'`, [id, path])
  return rowCount > 0
}

/** The columns of a cover and a manual: their paths, each with the URL whose lock keeps both. */
const SINGLE_FILES = ARTWORK_PATHS.filter(({ isList }) => !isList)
const FILE_LISTS = ARTWORK_PATHS.filter(({ isList }) => isList)

const CLEARED = new Map([
  ...FILE_LISTS.flatMap(({ name, url }) => [name, url].map((column) => [column, "'{}'"] as const)),
  ...SINGLE_FILES.flatMap(({ name, url }) =>
    [name, url].map((column) => [column, `case when own_fields && '{${url}}' then ${column} end`] as const))
])

/** Clears artwork, except media that a person set. */
const CLEAR = `update roms set media = '{}', updated_at = now(),
    ${[...CLEARED].map(([column, value]) => `${column} = ${value}`).join(', ')}
  where id = any($1::int[])
  returning id, array_remove(array[${SINGLE_FILES.map(({ name }) => name).join(', ')}] || array(
    select f.track_meta ->> 'cover_path' from rom_files f where f.rom_id = roms.id and f.track_meta is not null), null) as kept`

/**
 * Clears the artwork of ROMs.
 *
 * @returns the paths that their rows still contain
 */
export async function clearArtwork (db: Db, ids: readonly number[]): Promise<{ id: number, kept: string[] }[]> {
  const { rows } = await db.query<{ id: number, kept: string[] }>(CLEAR, [ids])
  return rows
}

/** Loads the folder names of some platforms, by id. */
export async function selectFolderNames (db: Db, platformIds: readonly number[]): Promise<Map<number, string>> {
  const { rows } = await db.query<{ id: number, fs_slug: string }>(
    'select id, fs_slug from platforms where id = any($1::int[])', [platformIds])
  return new Map(rows.map((row) => [row.id, row.fs_slug]))
}

/** Loads the ids of all running tasks except one. */
export async function selectOtherRunning (db: Db, taskId: string): Promise<Set<string>> {
  const { rows } = await db.query<{ id: string }>("select id from tasks where status = 'started' and id <> $1", [taskId])
  return new Set(rows.map(({ id }) => id))
}

/** Loads the owners of artwork: every platform, and every ROM with its platform, including ROMs in the trash. */
export async function selectOwners (db: Db): Promise<{ platforms: Set<number>, roms: Map<number, number> }> {
  const platforms = await db.query<{ id: number }>('select id from platforms')
  const roms = await db.query<{ id: number, platform_id: number }>(`select id, platform_id from roms
    union all select rom_id, platform_id from trash_items t where not exists (select 1 from roms where roms.id = t.rom_id)`)
  return {
    platforms: new Set(platforms.rows.map((row) => row.id)),
    roms: new Map(roms.rows.map((row) => [row.id, row.platform_id]))
  }
}
