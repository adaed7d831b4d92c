import { sql } from 'kysely'
import type { Context } from '../../core/access/context.ts'
import { type AnyCaller, isPlatformVisible } from '../platforms/visibility.ts'

/** Selects the folders and names of the platforms that are hidden from a caller. */
export async function selectHiddenPlatforms ({ db, caller }: Context<AnyCaller>): Promise<Set<string>> {
  const { rows } = await sql<{ fs_slug: string, name: string }>`select p.fs_slug, p.name from platforms p
    where not ${isPlatformVisible(caller)}`.execute(db)
  return new Set(rows.flatMap(({ fs_slug: folder, name }) => [folder, name]))
}
