import { type RawBuilder, sql } from 'kysely'
import { selectMilliseconds } from '../../core/database/columns.ts'
import type { Hashes } from '../../core/archives/types.ts'
import type { Db } from '../../core/database/db.ts'
import type { FirmwareRow } from './views.ts'

const COLUMNS = sql`f.id, f.library_id, f.platform_id, f.file_name, f.file_path, f.file_size_bytes::float8 as file_size_bytes,
  f.crc_hash, f.md5_hash, f.sha1_hash, f.is_verified, f.missing_from_fs, ${selectMilliseconds('f.created_at')} as created_at,
  ${selectMilliseconds('f.updated_at')} as updated_at`

/** Returns the firmware of some platforms, grouped by platform and sorted by file name. */
export async function selectFirmware (
  db: Db, platforms: readonly number[]
): Promise<Map<number, FirmwareRow[]>> {
  const { rows } = await sql<FirmwareRow>`select ${COLUMNS} from firmware f
    where f.platform_id = any(${platforms}::int[]) order by f.file_name`.execute(db)
  return Map.groupBy(rows, (row) => row.platform_id)
}

/** A firmware row with the folder name of its platform. */
export interface FirmwareWithPlatform extends FirmwareRow { platform_fs_slug: string }

/** The selected firmware; all of it without a platform or ids. */
export interface FirmwareSelection { platform_id?: number | undefined, ids?: readonly number[] }

/** Returns firmware sorted by file name. @param isVisible a condition on its platform `p` */
export async function selectPlacedFirmware (
  db: Db, isVisible: RawBuilder<boolean>, { platform_id: platform, ids }: FirmwareSelection
): Promise<FirmwareWithPlatform[]> {
  const ofPlatform = platform === undefined ? sql`` : sql`and f.platform_id = ${platform}`
  const oneOf = ids === undefined ? sql`` : sql`and f.id = any(${ids}::int[])`
  const { rows } = await sql<FirmwareWithPlatform>`select ${COLUMNS}, p.fs_slug as platform_fs_slug
    from firmware f join platforms p on p.id = f.platform_id
    where ${isVisible} ${ofPlatform} ${oneOf} order by f.file_name, f.id`.execute(db)
  return rows
}

export async function selectFirmwareIds (db: Db, isVisible: RawBuilder<boolean>): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`select f.id from firmware f join platforms p on p.id = f.platform_id
    where ${isVisible} order by f.id`.execute(db)
  return rows.map((row) => row.id)
}

/** Returns the platform `p` of an upload; null if the condition excludes it. */
export async function selectFirmwarePlatform (
  db: Db, id: number, isVisible: RawBuilder<boolean>
): Promise<{ id: number, slug: string, fs_slug: string } | null> {
  const { rows } = await sql<{ id: number, slug: string, fs_slug: string }>`
    select p.id, p.slug, p.fs_slug from platforms p where p.id = ${id} and ${isVisible}`.execute(db)
  return rows[0] ?? null
}

/** The facts of a file on disk, which are stored under its name. */
export interface FirmwareFacts extends Hashes {
  library_id: number
  platform_id: number
  file_name: string
  file_path: string
  file_size_bytes: number
  is_verified: boolean
}

export async function upsertFirmware (db: Db, facts: FirmwareFacts): Promise<void> {
  await sql`insert into firmware (library_id, platform_id, file_name, file_path, file_size_bytes, crc_hash, md5_hash, sha1_hash,
      is_verified, missing_from_fs)
    values (${facts.library_id}, ${facts.platform_id}, ${facts.file_name}, ${facts.file_path}, ${facts.file_size_bytes}, ${facts.crc_hash},
      ${facts.md5_hash}, ${facts.sha1_hash}, ${facts.is_verified}, false)
    on conflict (platform_id, file_name, library_id) do update set file_path = excluded.file_path,
      file_size_bytes = excluded.file_size_bytes, crc_hash = excluded.crc_hash, md5_hash = excluded.md5_hash,
      sha1_hash = excluded.sha1_hash, is_verified = excluded.is_verified, missing_from_fs = false, updated_at = now()`
    .execute(db)
}

/** Firmware that a scan did not find. */
export type MissingFirmware = Pick<FirmwareRow, 'id' | 'library_id' | 'file_path' | 'file_name'>

export async function selectMissingFirmware (db: Db): Promise<MissingFirmware[]> {
  const { rows } = await sql<MissingFirmware>`select id, library_id, file_path, file_name from firmware
    where missing_from_fs order by id`.execute(db)
  return rows
}

export async function deleteFirmware (db: Db, ids: readonly number[]): Promise<void> {
  await sql`delete from firmware where id = any(${ids}::int[])`.execute(db)
}
