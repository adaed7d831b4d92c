import { sql } from 'kysely'
import type { Context } from '../../core/access/context.ts'
import { selectMilliseconds } from '../../core/database/columns.ts'
import type { Db, Queryable } from '../../core/database/db.ts'
import { inTransaction } from '../../core/database/transaction.ts'
import { type AnyCaller, isPlatformVisible } from '../platforms/visibility.ts'
import { dropResults } from './match/match-rows.ts'
import { GAMES_MAX } from './parse/dat-limits.ts'

const DELETED_GAMES = 20_000

/** A file in the folder of DATs, as it was when it was read. */
export interface FolderFile {
  path: string
  file_size_bytes: number
  modified_ms: number
  problem: string | null
}

/** @property has_dat true if a stored DAT comes from the file */
export type KnownFile = FolderFile & { has_dat: boolean }

export async function selectFolderFiles (db: Db): Promise<KnownFile[]> {
  return (await db.query<KnownFile>(`select path, file_size_bytes::float8 as file_size_bytes, modified_ms::float8 as modified_ms,
    problem, exists (select from dats where folder_path = path) as has_dat from dat_folder_files`)).rows
}

export async function upsertFolderFile (db: Db, file: FolderFile): Promise<void> {
  const { path, file_size_bytes: size, modified_ms: modified, problem } = file
  await db.query(`insert into dat_folder_files (path, file_size_bytes, modified_ms, problem) values ($1, $2, $3, $4)
    on conflict (path) do update set file_size_bytes = excluded.file_size_bytes, modified_ms = excluded.modified_ms, problem = excluded.problem`,
  [path, size, modified, problem])
}

/** Forgets files of the folder, and deletes their DATs. */
export async function deleteFolderFiles (db: Db, paths: readonly string[]): Promise<void> {
  const { rows } = await db.query<{ id: number }>('select id from dats where folder_path = any($1::text[])', [paths])
  for (const { id } of rows) await deleteDat(db, id)
  await db.query('delete from dat_folder_files where path = any($1::text[])', [paths])
}

/** Deletes the games of a DAT, in statements that each end within their time limit. */
export async function deleteGames (tx: Queryable, id: number): Promise<void> {
  for (let from = 0; from < GAMES_MAX; from += DELETED_GAMES) {
    const range = [id, from, from + DELETED_GAMES]
    await tx.query('delete from dat_files where dat_id = $1 and game >= $2 and game < $3', range)
    const { rowCount } = await tx.query('delete from dat_games where dat_id = $1 and position >= $2 and position < $3', range)
    if (rowCount === 0) return
  }
}

/** Loads and locks the platforms of a DAT; null if there is no such DAT. A comparison may store matches meanwhile. */
async function lockPlatforms (tx: Db, id: number): Promise<string[] | null> {
  const { rows: [dat] } = await tx.query<{ platform_slugs: string[] }>(
    'select platform_slugs from dats where id = $1 for no key update', [id])
  return dat?.platform_slugs ?? null
}

/**
 * Deletes a DAT and has the ROMs of its platforms compared again.
 *
 * @returns false if the DAT was already deleted
 */
export async function deleteDat (db: Db, id: number): Promise<boolean> {
  return await inTransaction(db, async (tx) => {
    const slugs = await lockPlatforms(tx, id)
    if (slugs === null) return false
    await deleteGames(tx, id)
    await dropResults(tx, id, slugs)
    await tx.query('delete from dats where id = $1', [id])
    // A file with another version of the DAT is read again.
    await tx.query('delete from dat_folder_files f where not exists (select from dats where folder_path = f.path)')
    return true
  })
}

/** Selects those of some slugs that a platform of the library has. */
export async function selectSlugs (db: Db, slugs: readonly string[]): Promise<string[]> {
  const { rows } = await db.query<{ slug: string }>('select slug from platforms where slug = any($1::text[])', [slugs])
  return rows.map(({ slug }) => slug)
}

/** Changes the platforms of a DAT, and has the ROMs of the former and the new ones compared again. */
export async function updatePlatforms (db: Db, id: number, slugs: readonly string[], isChosen: boolean): Promise<void> {
  await inTransaction(db, async (tx) => {
    const former = await lockPlatforms(tx, id)
    await tx.query('update dats set platform_slugs = $2, is_platform_chosen = $3 where id = $1', [id, slugs, isChosen])
    await dropResults(tx, id, [...former ?? [], ...slugs])
  })
}

/** A DAT without its games. Times are milliseconds since 1970. */
export interface DatRow {
  id: number
  name: string
  description: string
  version: string
  date: string
  author: string
  folder_path: string | null
  platform_slugs: string[]
  is_platform_chosen: boolean
  game_count: number
  file_count: number
  created_at: number
  updated_at: number
  /** The platforms in the library that the caller sees. */
  platform_ids: number[]
}

/** The part of a list of DATs that is wanted. */
export interface DatSelection { id?: number, platformId?: number }

/**
 * Loads DATs by name. A DAT of which every platform in the library is hidden from the caller is not among them, because
 * its name would name the platform.
 */
export async function selectDats (
  { db, caller }: Context<AnyCaller>, { id, platformId }: DatSelection
): Promise<DatRow[]> {
  const ofPlatform = platformId === undefined
    ? sql<boolean>`true`
    : sql<boolean>`exists (select from platforms p where p.id = ${platformId} and p.slug = any(t.platform_slugs) and ${isPlatformVisible(caller)})`
  const { rows } = await sql<DatRow>`
    select t.id, t.name, t.description, t.version, t.date, t.author, t.folder_path, t.platform_slugs, t.is_platform_chosen,
      t.game_count, t.file_count, ${selectMilliseconds('t.created_at')} as created_at, ${selectMilliseconds('t.updated_at')} as updated_at,
      array(select p.id from platforms p where p.slug = any(t.platform_slugs) and ${isPlatformVisible(caller)} order by p.id) as platform_ids
    from dats t
    where ${id === undefined ? sql<boolean>`true` : sql<boolean>`t.id = ${id}`} and ${ofPlatform}
      and (exists (select from platforms p where p.slug = any(t.platform_slugs) and ${isPlatformVisible(caller)})
        or not exists (select from platforms p where p.slug = any(t.platform_slugs)))
    order by t.key, t.id`.execute(db)
  return rows
}
