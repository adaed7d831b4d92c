import type { EntityManager } from '@mikro-orm/postgresql'
import { sql } from 'kysely'
import { milliseconds } from '../../core/database/columns.ts'
import type { FirmwareRow } from './views.ts'

/** The firmware of some platforms by platform, by file name. */
export async function selectFirmware (
  em: EntityManager, platforms: readonly number[]
): Promise<Map<number, FirmwareRow[]>> {
  const { rows } = await sql<FirmwareRow>`
    select id, platform_id, file_name, file_path, file_size_bytes::float8 as file_size_bytes, crc_hash, md5_hash,
      sha1_hash, is_verified, missing_from_fs, ${milliseconds('created_at')} as created_at,
      ${milliseconds('updated_at')} as updated_at
    from firmware where platform_id = any(${platforms}::int[]) order by file_name`.execute(em.getKysely())
  return Map.groupBy(rows, (row) => row.platform_id)
}
