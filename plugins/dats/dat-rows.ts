import { sql } from 'kysely'
import type { Context } from '../../core/access/context.ts'
import { selectMilliseconds } from '../../core/database/columns.ts'
import type { Db } from '../../core/database/db.ts'
import { inTransaction } from '../../core/database/transaction.ts'
import { type AnyCaller, isPlatformVisible } from '../platforms/visibility.ts'
import { COMPARISON_LOCK, MARK_CHANGED } from './match/match-rows.ts'

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

/** Deletes a DAT and has the ROMs of its platforms compared again. @returns false if there is no such DAT */
export async function deleteDat (db: Db, id: number): Promise<boolean> {
  return await inTransaction(db, async (tx) => {
    await tx.query(COMPARISON_LOCK)
    const { rows: [dat] } = await tx.query<{ platform_slugs: string[] }>('select platform_slugs from dats where id = $1 for update', [id])
    if (dat === undefined) return false
    await tx.query(MARK_CHANGED, [dat.platform_slugs])
    for (const table of ['dat_files', 'dat_games']) await tx.query(`delete from ${table} where dat_id = $1`, [id])
    await tx.query('delete from dats where id = $1', [id])
    // A file with another version of the DAT is read again.
    await tx.query('delete from dat_folder_files f where not exists (select from dats where folder_path = f.path)')
    return true
  })
}

/** Changes the platforms of a DAT, and has the ROMs of the former and the new ones compared again. */
export async function updatePlatforms (db: Db, id: number, slugs: readonly string[], isChosen: boolean): Promise<void> {
  await inTransaction(db, async (tx) => {
    await tx.query(COMPARISON_LOCK)
    const { rows: [former] } = await tx.query<{ platform_slugs: string[] }>('select platform_slugs from dats where id = $1 for update', [id])
    await tx.query(MARK_CHANGED, [[...former?.platform_slugs ?? [], ...slugs]])
    await tx.query('update dats set platform_slugs = $2, is_platform_chosen = $3 where id = $1', [id, slugs, isChosen])
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
