import { sql } from 'kysely'
import type { Context } from '../../core/access/context.ts'
import { type AnyCaller, isPlatformVisible } from '../platforms/visibility.ts'

/** Selects the folders and names of the platforms that are hidden from a caller. */
export async function selectHiddenPlatformNames ({ db, caller }: Context<AnyCaller>): Promise<Set<string>> {
  const { rows } = await sql<{ name: string }>`select v.name from platforms p,
      unnest(array[p.fs_slug, p.name, p.custom_name]) v (name)
    where v.name is not null and not ${isPlatformVisible(caller)}`.execute(db)
  return new Set(rows.map(({ name }) => name))
}
