import { sql } from 'kysely'
import pg from 'pg'
import type { Context } from '../../core/access/context.ts'
import { selectMilliseconds } from '../../core/database/columns.ts'
import type { Db } from '../../core/database/db.ts'
import { toDatabaseJson } from '../../core/database/json.ts'
import { reattachUploadsOf } from '../assets/reattach-rows.ts'
import { applyLocks, deleteFormer } from '../roms/former-rows.ts'
import type { AnyCaller } from '../platforms/visibility.ts'
import { isRomVisible } from '../roms/visibility.ts'
import type { TrashedRows, TrashItem } from './entities.ts'

/** An item of the trash, and its location. */
export type TrashedItem = Pick<TrashItem, 'id' | 'kind' | 'library_id' | 'platform_id' | 'platform_fs_slug' | 'rom_id' | 'name' |
  'entry' | 'fs_path' | 'file_path' | 'file_name' | 'is_folder' | 'file_size_bytes'> & {
    below: string | null
    /** The time of the deletion, in milliseconds since 1970. */
    deleted_at: number
    /** The username of the person who deleted it. */
    deleted_by: string | null
  }

const INSERT_ROMS = `insert into trash_items (kind, entry, deleted_by, rom_id, library_id, platform_id, platform_fs_slug, name,
    min_age, fs_path, file_path, file_name, is_folder, file_size_bytes, kept)
  select 'rom', $2, $3, r.id, r.library_id, r.platform_id, p.fs_slug, coalesce(r.name, r.fs_name), r.min_age, r.fs_path,
    r.fs_path, r.fs_name, r.is_folder, r.fs_size_bytes, jsonb_build_object('roms', jsonb_build_array(to_jsonb(r)),
      'rom_files', coalesce((select jsonb_agg(to_jsonb(f)) from rom_files f where f.rom_id = r.id), '[]'),
      'rom_matches', coalesce((select jsonb_agg(to_jsonb(m)) from rom_matches m where m.rom_id = r.id), '[]'))
  from roms r join platforms p on p.id = r.platform_id where r.id = any($1::int[]) returning id, rom_id`

/** Stores ROMs with their rows. @returns the ids of the items by those of the ROMs */
export async function insertRoms (
  db: Db, ids: readonly number[], entry: string, userId: number | null
): Promise<Map<number, number>> {
  const { rows } = await db.query<{ id: number, rom_id: number }>(INSERT_ROMS, [ids, entry, userId])
  return new Map(rows.map((row) => [row.rom_id, row.id]))
}

/** The folder of a file below the ROM's own folder; a ROM that is one file has none. */
const FOLDER_IN_ROM = "case when r.is_folder then ltrim(substr(f.file_path, length(r.fs_path || '/' || r.fs_name) + 1), '/') else '' end"

/** Stores a single file of a ROM. @returns the item's id; null if the file is gone */
export async function insertFile (
  db: Db, fileId: number, entry: string, userId: number | null
): Promise<number | null> {
  const { rows } = await db.query<{ id: number }>(`insert into trash_items (kind, entry, deleted_by, rom_id, library_id,
      platform_id, platform_fs_slug, name, min_age, fs_path, file_path, file_name, below, file_size_bytes)
    select 'file', $2, $3, r.id, r.library_id, r.platform_id, p.fs_slug, coalesce(r.name, r.fs_name), r.min_age, r.fs_path,
      f.file_path, f.file_name, ${FOLDER_IN_ROM}, f.file_size_bytes
    from rom_files f join roms r on r.id = f.rom_id join platforms p on p.id = r.platform_id where f.id = $1
    returning id`, [fileId, entry, userId])
  return rows[0]?.id ?? null
}

/** Deletes items. @returns the ROMs that are no longer in the trash nor in a list, with their platforms */
export async function deleteItems (
  db: Db, ids: readonly number[]
): Promise<{ rom_id: number, platform_id: number }[]> {
  const { rows } = await db.query<{ rom_id: number, platform_id: number }>(`with gone as (
      delete from trash_items where id = any($1::int[]) returning id, rom_id, platform_id
    ) select distinct rom_id, platform_id from gone where not exists (select 1 from roms where roms.id = gone.rom_id)
      and not exists (select 1 from trash_items t where t.rom_id = gone.rom_id and t.id not in (select id from gone))`, [ids])
  return rows
}

const COLUMNS = sql`t.id, t.kind, t.library_id, t.platform_id, t.platform_fs_slug, t.rom_id, t.name, t.entry, t.fs_path, t.file_path,
  t.file_name, t.below, t.is_folder, t.file_size_bytes::float8 as file_size_bytes, ${selectMilliseconds('t.deleted_at')} as deleted_at,
  u.username as deleted_by`

/** Returns the SQL source of the items that a caller sees. Those who saw a ROM before see it in the trash. */
const selectFrom = (caller: AnyCaller) => sql`from trash_items t left join users u on u.id = t.deleted_by
  cross join lateral (select t.rom_id as id, t.platform_id, t.min_age) r where ${isRomVisible(caller)}`

/** Returns a page of items, the last deleted first, and their total number. */
export async function selectPage (
  { db, caller }: Context<AnyCaller>, { limit, offset }: { limit: number, offset: number }
): Promise<{ items: TrashedItem[], total: number }> {
  const { rows: items } = await sql<TrashedItem>`select ${COLUMNS} ${selectFrom(caller)} order by t.deleted_at desc, t.id desc
    limit ${limit} offset ${offset}`.execute(db)
  const { rows: [row] } = await sql<{ total: number }>`select count(*)::int as total ${selectFrom(caller)}`.execute(db)
  return { items, total: row?.total ?? 0 }
}

/** Returns the visible items among some ids, by id. */
export async function selectItems (
  { db, caller }: Context<AnyCaller>, ids: readonly number[]
): Promise<Map<number, TrashedItem>> {
  const { rows } = await sql<TrashedItem>`select ${COLUMNS} ${selectFrom(caller)} and t.id = any(${ids}::int[])`.execute(db)
  return new Map(rows.map((row) => [row.id, row]))
}

/** Returns the next items after an id that a caller sees, by id. */
export async function selectAfter (
  { db, caller }: Context<AnyCaller>, after: number, limit: number
): Promise<TrashedItem[]> {
  const { rows } = await sql<TrashedItem>`select ${COLUMNS} ${selectFrom(caller)} and t.id > ${after} order by t.id limit ${limit}`
    .execute(db)
  return rows
}

/**
 * Returns the items of ROMs that are listed too, under the path of the item and since before their deletion. A deletion
 * or restore is running, or was interrupted. Pending renames decide first where the files of a ROM are.
 */
export async function selectHalfDone (db: Db, ids: readonly number[] | null = null): Promise<TrashedItem[]> {
  const { rows } = await sql<TrashedItem>`select ${COLUMNS} from trash_items t left join users u on u.id = t.deleted_by
    join roms r on r.id = t.rom_id and r.library_id = t.library_id and r.platform_id = t.platform_id and r.fs_path = t.fs_path
      and r.fs_name = t.file_name and r.created_at <= t.deleted_at
    where t.kind = 'rom' and (${ids}::int[] is null or t.id = any(${ids}::int[]))
      and not exists (select 1 from rom_renames n where n.rom_id = r.id) order by t.id`.execute(db)
  return rows
}

/** An item stored more than an hour ago, which is therefore in the trash now or never will be. */
export type AgedItem = Pick<TrashedItem, 'id' | 'library_id' | 'platform_id' | 'entry' | 'fs_path' | 'file_path' | 'file_name'> & {
  /** True if the item was kept as long as configured. */
  is_over: boolean
}

/** Returns old items. @param query the items after an id; the days that items are kept */
export async function selectOld (
  db: Db, { after, limit, days }: { after: number, limit: number, days: number }
): Promise<AgedItem[]> {
  const { rows } = await db.query<AgedItem>(`select id, library_id, platform_id, entry, fs_path, file_path, file_name,
      deleted_at < now() - $3 * interval '1 day' as is_over
    from trash_items where id > $1 and deleted_at < now() - interval '1 hour' order by id limit $2`, [after, limit, days])
  return rows
}

/** Returns the ids of the items in a folder of the trash. */
export async function selectEntry (db: Db, libraryId: number, entry: string): Promise<number[]> {
  const { rows } = await db.query<{ id: number }>(
    'select id from trash_items where library_id = $1 and entry = $2', [libraryId, entry])
  return rows.map(({ id }) => id)
}

/** Locks an item until the transaction ends. @returns true if the item still exists */
export async function lockItem (tx: Db, id: number): Promise<boolean> {
  return (await tx.query('select 1 from trash_items where id = $1 for update', [id])).rowCount === 1
}

/** The ROM to whose folder a file is restored. */
export interface FileTarget { fs_path: string, fs_name: string, is_folder: boolean }

/** Returns the home of a file; null if its ROM is not listed. */
export async function selectFileTarget (db: Db, romId: number): Promise<FileTarget | null> {
  const { rows } = await db.query<FileTarget>('select fs_path, fs_name, is_folder from roms where id = $1', [romId])
  return rows[0] ?? null
}

export async function isPlatformListed (db: Db, id: number): Promise<boolean> {
  return (await db.query('select 1 from platforms where id = $1', [id])).rowCount === 1
}

const TABLE_COLUMNS = `select array_agg(attname::text) as names from pg_attribute
  where attrelid = $1::regclass and attnum > 0 and not attisdropped`

/** Restores rows with their former columns; columns added to the table since then get their defaults. */
async function restoreRows (
  tx: Db, table: keyof TrashedRows, rows: readonly Record<string, unknown>[]
): Promise<number> {
  const [first] = rows
  if (first === undefined) return 0
  const { rows: [tableColumns] } = await tx.query<{ names: string[] }>(TABLE_COLUMNS, [table])
  const columns = tableColumns?.names.filter((name) => name in first).map((name) => pg.escapeIdentifier(name)).join(', ') ?? ''
  const { rowCount } = await tx.query(`insert into ${table} (${columns})
    select ${columns} from jsonb_populate_recordset(null::${table}, $1::jsonb) on conflict do nothing`, [toDatabaseJson(rows)])
  return rowCount ?? 0
}

/**
 * Restores the rows of a ROM under its id, with its saves. If another ROM has the id or name by now, the existing
 * rows stay.
 *
 * @returns true if the rows were restored
 */
export async function restoreRomRows (tx: Db, itemId: number, romId: number): Promise<boolean> {
  const { rows: [item] } = await tx.query<{ kept: TrashedRows | null }>('select kept from trash_items where id = $1', [itemId])
  if (item?.kept == null) return false
  if (await restoreRows(tx, 'roms', item.kept.roms) === 0) return false
  await restoreRows(tx, 'rom_files', item.kept.rom_files)
  await restoreRows(tx, 'rom_matches', item.kept.rom_matches)
  await tx.query('update roms set missing_from_fs = false, updated_at = now() where id = $1', [romId])
  // Apply newer field locks, because an edit may have come between the copy in the trash and the deletion of the row.
  const former = await deleteFormer(tx, romId)
  if (former !== null) await applyLocks(tx, [former])
  await reattachUploadsOf(tx, romId)
  return true
}

/**
 * Selects the ROMs that lost their cover because they were deleted during a scan from scratch, which drops covers
 * first.
 */
export async function selectWithoutCover (db: Db, ids: readonly number[]): Promise<number[]> {
  const { rows } = await db.query<{ id: number }>(`select r.id from roms r
    where r.id = any($1::int[]) and r.url_cover is null and r.path_cover_large is null and not r.own_fields && '{url_cover}'
      and exists (select from rom_matches m where m.rom_id = r.id and m.match @? '$.media[*] ? (@.kind == "cover")')`, [ids])
  return rows.map(({ id }) => id)
}

export async function deleteRom (tx: Db, romId: number): Promise<void> {
  await tx.query('delete from roms where id = $1', [romId])
}
