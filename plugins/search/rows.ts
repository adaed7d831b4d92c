import { sql } from 'kysely'
import type { Context } from '../../core/access/context.ts'
import type { AnyCaller } from '../platforms/visibility.ts'
import { isRomVisible } from '../roms/visibility.ts'

/** Loads the values of a ROM that a search needs; null if the ROM is unknown or hidden. */
export async function findRom (
  { db, caller }: Context<AnyCaller>, id: number
): Promise<{ platform_id: number, fs_name_no_tags: string } | null> {
  const { rows: [rom] } = await sql<{ platform_id: number, fs_name_no_tags: string }>`
    select r.platform_id, r.fs_name_no_tags from roms r join platforms p on p.id = r.platform_id
    where r.id = ${id} and ${isRomVisible(caller)}`.execute(db)
  return rom ?? null
}
