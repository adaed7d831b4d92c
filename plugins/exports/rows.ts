import { sql } from 'kysely'
import type { Context } from '../../core/access/context.ts'
import type { Db, Queryable } from '../../core/database/db.ts'
import type { AnyCaller } from '../platforms/visibility.ts'
import type { DumpStatus, GameValues, Rom } from '../roms/entities.ts'
import { gameFieldsIn } from '../roms/game-fields.ts'
import { selectRomColumns } from '../roms/rom-columns.ts'
import { isRomVisible } from '../roms/visibility.ts'

/** Fields of a game that exporters receive exactly as stored. */
export const GAME_FIELDS = gameFieldsIn('exports')
export type ExportedFields = Pick<GameValues, typeof GAME_FIELDS[number]>

export type RomRow = ExportedFields & Pick<GameValues, 'player_count'> &
  Pick<Rom, 'id' | 'fs_name' | 'fs_path' | 'fs_name_no_tags' | 'fs_extension' | 'is_folder' | 'tags' | 'path_screenshots' | 'media'> &
  Record<'name' | 'summary' | 'path_cover_large' | 'path_manual', string | null> & {
    dump_status: DumpStatus | null
    is_named: boolean
    /** The names of the first few hundred files directly in a ROM's folder; empty if the ROM is a file. */
    top_files: string[]
  }

export const PAGE_ROMS = 1_000
/** The first half of the keys of export locks (PostgreSQL advisory locks): a number that nothing else uses. */
const LOCK_CLASS = 736_421

/** A folder with more files counts as one game. */
const TOP_FILES_MAX = 500

const SELECT_PAGE = `select r.id, r.fs_name, r.fs_path, r.fs_name_no_tags, r.fs_extension, r.is_folder, r.name, r.summary, r.tags,
    r.is_identified or r.own_fields && '{name}' or coalesce(r.name, '') not in ('', r.fs_name_no_tags) as is_named,
    ${selectRomColumns([...GAME_FIELDS, 'player_count'])}, r.path_cover_large, r.path_screenshots, r.path_manual, r.media,
    (select d.status from rom_dumps d where d.rom_id = r.id) as dump_status,
    array(select f.file_name from rom_files f where r.is_folder and f.rom_id = r.id and f.is_top_level
      order by f.file_name limit ${TOP_FILES_MAX}) as top_files
  from roms r where r.platform_id = $1 and r.library_id = $3 and not r.missing_from_fs and r.fs_name > $2
  order by r.fs_name limit ${PAGE_ROMS}`

/** A platform in one library. */
export interface PlatformInLibrary { platform_id: number, library_id: number }

/** Selects the next ROMs of a platform that are on disk, by file name. @param after the last name of the page before */
export async function selectRomPage (db: Db, platform: PlatformInLibrary, after: string): Promise<RomRow[]> {
  return (await db.query<RomRow>(SELECT_PAGE, [platform.platform_id, after, platform.library_id])).rows
}

/** Selects those of the ids that belong to a ROM, also one whose file is missing. */
export async function selectStoredRoms (db: Db, ids: readonly number[]): Promise<number[]> {
  if (ids.length === 0) return []
  const { rows } = await db.query<{ id: number }>('select id from roms where id = any($1::int[])', [ids])
  return rows.map(({ id }) => id)
}

export interface HiddenRom { id: number, library_id: number, slug: string, fs_slug: string, is_exported: boolean }

/** The ROMs of some platforms that a viewer may not see. */
export async function selectHidden (
  { db, caller }: Context<AnyCaller>, slugs: readonly string[]
): Promise<HiddenRom[]> {
  const { rows } = await sql<HiddenRom>`
    select r.id, r.library_id, p.slug, p.fs_slug, not r.missing_from_fs as is_exported from roms r join platforms p on p.id = r.platform_id
    where p.slug = any(${slugs}::text[]) and not (${isRomVisible(caller)})`.execute(db)
  return rows
}

/** Waits until no other export works on the platform, and locks it until the connection ends. */
export async function lockPlatform (tx: Queryable, platformId: number): Promise<void> {
  await tx.query('select pg_advisory_lock($1, $2)', [LOCK_CLASS, platformId])
}
