import { type RawBuilder, sql } from 'kysely'
import type { Context } from '../../core/access/context.ts'
import type { Db } from '../../core/database/db.ts'
import { toDatabaseJson } from '../../core/database/json.ts'
import type { AnyCaller } from '../platforms/visibility.ts'
import { isRomVisible } from '../roms/visibility.ts'
import type { Swap } from './entities.ts'

/** A ROM that may be converted. */
export interface ConvertibleRom {
  id: number
  library_id: number
  platform_id: number
  slug: string
  fs_path: string
  fs_name: string
  size: number
  crc_hash: string
  md5_hash: string
  sha1_hash: string
  ra_hash: string | null
}

/** The selected ROMs; all of them without platforms and ROMs. */
export interface Selection { platform_ids: readonly number[] | null, rom_ids: readonly number[] | null }

/** The condition for a ROM `r` to be selected. ROMs that are hidden from the caller are not. */
const isSelected = (caller: AnyCaller, { platform_ids: platforms, rom_ids: roms }: Selection): RawBuilder<boolean> =>
  sql<boolean>`(not r.missing_from_fs and ${isRomVisible(caller)}
    and (${platforms}::int[] is null or r.platform_id = any(${platforms}::int[]))
    and (${roms}::int[] is null or r.id = any(${roms}::int[])))`

export async function countConvertible ({ db, caller }: Context<AnyCaller>, selection: Selection): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*)::int as count from roms r
    where ${isSelected(caller, selection)}`.execute(db)
  return rows[0]?.count ?? 0
}

/** Returns the next ROMs after an id, by id. */
export async function selectConvertible (
  { db, caller }: Context<AnyCaller>, selection: Selection, after: number, limit: number
): Promise<ConvertibleRom[]> {
  const { rows } = await sql<ConvertibleRom>`select r.id, r.library_id, r.platform_id, p.slug, r.fs_path, r.fs_name,
      r.fs_size_bytes::float8 as size, r.crc_hash, r.md5_hash, r.sha1_hash, r.ra_hash
    from roms r join platforms p on p.id = r.platform_id
    where ${isSelected(caller, selection)} and r.id > ${after} order by r.id limit ${limit}`.execute(db)
  return rows
}

/** True if a ROM still has its name, and no other ROM has the new name. */
export async function isNameFree (db: Db, rom: ConvertibleRom, fsName: string): Promise<boolean> {
  const { rowCount } = await db.query(`select 1 from roms where id = $1 and platform_id = $2 and fs_name = $3
    and not exists (select 1 from roms where platform_id = $2 and fs_name = $4 and library_id = $5 and id <> $1)
    and not exists (select 1 from rom_renames where rom_id = $1 or (platform_id = $2 and fs_name = $4))`,
  [rom.id, rom.platform_id, rom.fs_name, fsName, rom.library_id])
  return rowCount === 1
}

/** A conversion in progress; `swap` is null until the new files may replace the old ones. */
export interface RunningConversion {
  rom_id: number
  platform_id: number
  library_id: number
  work_path: string
  swap: Swap | null
}

/** Stores the start of a conversion. @returns false if an earlier one of the same ROM has not ended */
export async function insertConversion (
  db: Db, { id, platform_id: platform, library_id: library }: ConvertibleRom, work: string
): Promise<boolean> {
  const { rowCount } = await db.query(`insert into rom_conversions (rom_id, platform_id, library_id, work_path)
    values ($1, $2, $3, $4) on conflict do nothing`, [id, platform, library, work])
  return rowCount === 1
}

export async function updateSwap (db: Db, romId: number, swap: Swap | null): Promise<boolean> {
  const { rowCount } = await db.query('update rom_conversions set swap = $2 where rom_id = $1',
    [romId, swap === null ? null : toDatabaseJson(swap)])
  return rowCount === 1
}

export async function deleteConversion (tx: Db, romId: number): Promise<void> {
  await tx.query('delete from rom_conversions where rom_id = $1', [romId])
}

const SELECT_BEGUN = 'select rom_id, platform_id, library_id, work_path, swap from rom_conversions'

export async function selectConversions (db: Db): Promise<RunningConversion[]> {
  const { rows } = await db.query<RunningConversion>(`${SELECT_BEGUN} order by rom_id`)
  return rows
}

/** Locks a conversion until the transaction ends; null if another process has ended it. */
export async function lockConversion (tx: Db, romId: number): Promise<RunningConversion | null> {
  const { rows } = await tx.query<RunningConversion>(
    `${SELECT_BEGUN} where rom_id = $1 for update`, [romId])
  return rows[0] ?? null
}

/** Deletes a duplicate row that a scan made if it saw the new file too early. @returns true if the ROM exists */
export async function prepareRom (
  db: Db, { rom_id: id, platform_id: platform, library_id: library }: RunningConversion, fsName: string
): Promise<boolean> {
  await db.query(`delete from roms where platform_id = $2 and fs_name = $3 and library_id = $4 and id <> $1
    and created_at >= (select created_at from rom_conversions where rom_id = $1)`, [id, platform, fsName, library])
  const { rowCount } = await db.query('select 1 from roms where id = $1', [id])
  return rowCount === 1
}

/** True if a scan is reading the library now. */
export async function isScanning (db: Db): Promise<boolean> {
  const { rowCount } = await db.query("select 1 from tasks where type = 'scan' and task_key is null and status = 'started' limit 1")
  return rowCount !== 0
}

/** True if a conversion is running, in any process. */
export async function isConverting (db: Db, taskKey: string): Promise<boolean> {
  const { rowCount } = await db.query("select 1 from tasks where task_key = $1 and status = 'started' limit 1", [taskKey])
  return rowCount !== 0
}
