import { sql } from 'kysely'
import type { Context } from '../../core/access/context.ts'
import { type AnyCaller, isPlatformVisible } from '../platforms/visibility.ts'
import { isRomVisible } from '../roms/visibility.ts'

/** Returns those of some ids whose ROMs a caller sees. */
export async function selectVisibleRoms (
  { db, caller }: Context<AnyCaller>, ids: readonly number[]
): Promise<Set<number>> {
  const { rows } = await sql<{ id: number }>`select r.id from roms r
    where r.id = any(${ids}::int[]) and ${isRomVisible(caller)}`.execute(db)
  return new Set(rows.map(({ id }) => id))
}

/** Selects the folders and names of the platforms that are hidden from a caller. */
export async function selectHiddenPlatforms ({ db, caller }: Context<AnyCaller>): Promise<Set<string>> {
  const { rows } = await sql<{ fs_slug: string, name: string }>`select p.fs_slug, p.name from platforms p
    where not ${isPlatformVisible(caller)}`.execute(db)
  return new Set(rows.flatMap(({ fs_slug: folder, name }) => [folder, name]))
}
