import { type RawBuilder, sql } from 'kysely'
import type { Context } from '../../core/access/context.ts'
import { selectMilliseconds } from '../../core/database/columns.ts'
import type { Db } from '../../core/database/db.ts'
import { selectPlatforms } from '../platforms/rows.ts'
import type { AnyCaller } from '../platforms/visibility.ts'
import type { Rom, RomFile } from '../roms/entities.ts'
import { isRomVisible } from '../roms/visibility.ts'

/** A ROM of a platform. */
export interface RomRow extends Pick<Rom, 'id' | 'fs_name' | 'fs_name_no_tags' | 'fs_size_bytes' | 'name_sort_key'> {
  name: string | null
  summary: string | null
  /** The first region in its name or from a provider. */
  region: string | null
  revision: string | null
  /** Milliseconds since 1970. */
  first_release_date: number | null
  path_cover_small: string | null
  path_cover_large: string | null
  /** The name of its download: a zip for a folder of several files. */
  download_name: string
  /** True if the ROM is on disk and the caller sees it. */
  is_listed: boolean
}

/** A file with the fields that a feed shows about its ROM. */
export interface FileRow extends Pick<RomFile, 'id' | 'file_name' | 'file_size_bytes' | 'sha1_hash'> {
  rom_id: number
  /** Position of its ROM among the requested ROMs, from 1. */
  position: number
  category: string | null
  /** Milliseconds since 1970. */
  updated_at: number
}

export type LicenseRow = Pick<FileRow, 'rom_id' | 'id' | 'file_name' | 'sha1_hash'>

/** Most rows that one statement reads, so that a long feed needs no more memory than a short one. */
export const PAGE_ROMS = 1_000
export const PAGE_FILES = 5_000

/** Selects the platforms of one slug that the caller sees. */
export const selectPlatformsOf = (context: Context<AnyCaller>, slug: string) =>
  selectPlatforms(context, sql<boolean>`p.slug = ${slug}`)

/**
 * Selects the next ROMs of a platform by name, including those that are not listed. Conditions that hide them would
 * make the database read the whole platform for each page.
 *
 * @param after the last ROM of the page before
 */
export async function selectRomPage (
  { db, caller }: Context<AnyCaller>, platformId: number, after: Pick<RomRow, 'name_sort_key' | 'id'>
): Promise<RomRow[]> {
  const { rows } = await sql<RomRow>`
    select r.id, nullif(r.name, '') as name, r.name_sort_key, r.fs_name, r.fs_name_no_tags,
      r.fs_size_bytes::float8 as fs_size_bytes, r.summary, r.regions[1] as region, r.revision,
      r.first_release_date::float8 as first_release_date, r.path_cover_small, r.path_cover_large,
      case when r.is_folder then coalesce((select min(f.file_name) from rom_files f where f.rom_id = r.id having count(*) = 1),
        r.fs_name || '.zip') else r.fs_name end as download_name,
      not r.missing_from_fs and ${isRomVisible(caller)} as is_listed
    from roms r where r.platform_id = ${platformId} and (r.name_sort_key, r.id) > (${after.name_sort_key}, ${after.id})
    order by r.name_sort_key, r.id limit ${PAGE_ROMS}`.execute(db)
  return rows
}

/** The files of ROMs in a feed: those directly in a ROM's folder, those of a category, or all. */
export type FileChoice = { top_level: true } | { category: string } | { all: true }

function isChosen (choice: FileChoice): RawBuilder<boolean> {
  if ('all' in choice) return sql<boolean>`true`
  return 'category' in choice ? sql<boolean>`f.category = ${choice.category}` : sql<boolean>`f.is_top_level`
}

/** Selects the next files of these ROMs, ROM by ROM. @param after the last file of the page before */
export async function selectFilePage (
  db: Db, romIds: readonly number[], choice: FileChoice, after: Pick<FileRow, 'position' | 'id'>
): Promise<FileRow[]> {
  const { rows } = await sql<FileRow>`
    select f.id, f.rom_id, wanted.position::int as position, f.file_name, f.file_size_bytes::float8 as file_size_bytes,
      f.sha1_hash, f.category, ${selectMilliseconds('f.updated_at')} as updated_at
    from unnest(${romIds}::int[]) with ordinality as wanted(rom_id, position) join rom_files f on f.rom_id = wanted.rom_id
    where (wanted.position, f.id) > (${after.position}, ${after.id}) and ${isChosen(choice)}
    order by wanted.position, f.id limit ${PAGE_FILES}`.execute(db)
  return rows
}

/** Selects the first license file of each of these ROMs, by ROM. */
export async function selectLicenses (db: Db, romIds: readonly number[]): Promise<Map<number, LicenseRow>> {
  const { rows } = await sql<LicenseRow>`
    select distinct on (f.rom_id) f.rom_id, f.id, f.file_name, f.sha1_hash from rom_files f
    where f.rom_id = any(${romIds}::int[]) and lower(f.file_name) like '%.rap'
    order by f.rom_id, f.file_name, f.id`.execute(db)
  return new Map(rows.map((row) => [row.rom_id, row]))
}
