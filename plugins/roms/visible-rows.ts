import { sql } from 'kysely'
import type { Context } from '../../core/access/context.ts'
import type { LongReads } from '../library/long-reads.ts'
import type { PlatformSize } from '../platforms/views.ts'
import type { AnyCaller } from '../platforms/visibility.ts'
import { isCountVisible, isRomHidden, isRomVisible } from './visibility.ts'

/** True if a ROM exists and the caller sees it. @param id a number, or the digits of any number in an address */
export async function hasVisibleRom ({ db, caller }: Context<AnyCaller>, id: number | string): Promise<boolean> {
  const { rows } = await sql`select from roms r join platforms p on p.id = r.platform_id
    where r.id = ${id}::bigint and ${isRomVisible(caller)}`.execute(db)
  return rows.length > 0
}

/** Returns those of some ids whose ROMs a caller sees. */
export async function selectVisibleRoms (
  { db, caller }: Context<AnyCaller>, ids: readonly number[]
): Promise<Set<number>> {
  const { rows } = await sql<{ id: number }>`select r.id from roms r
    where r.id = any(${ids}::int[]) and ${isRomVisible(caller)}`.execute(db)
  return new Set(rows.map(({ id }) => id))
}

/**
 * Counts the ROMs that a caller sees, with their size, by platform id. Skips platforms without a ROM. Reads the counts
 * of extensions, because each ROM has one extension.
 */
export async function selectPlatformSizes (reads: LongReads, caller: AnyCaller): Promise<Map<number, PlatformSize>> {
  const { rows } = await sql<PlatformSize & { platform_id: number }>`
    select r.platform_id, sum(r.roms)::int as rom_count, sum(r.bytes)::float8 as fs_size_bytes
    from (select platform_id, min_age, roms, bytes from library_counts where kind = 'extension'
      union all select r.platform_id, r.min_age, -1, -r.fs_size_bytes from roms r where ${isRomHidden(caller)}) r
    join platforms p on p.id = r.platform_id where ${isCountVisible(caller)}
    group by r.platform_id having sum(r.roms) > 0`.execute(reads)
  return new Map(rows.map(({ platform_id: id, ...size }) => [id, size]))
}
