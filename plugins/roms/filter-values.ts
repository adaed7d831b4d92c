import type { EntityManager } from '@mikro-orm/postgresql'
import { sql } from 'kysely'
import type { Condition } from './conditions.ts'
import { romTables } from './rows.ts'
import type { RomFilters } from './schemas.ts'

const LISTS = ['genres', 'franchises', 'collections', 'companies', 'game_modes', 'age_ratings', 'regions', 'languages',
  'tags'] as const

export const noFilterValues = (): RomFilters => ({
  genres: [], franchises: [], collections: [], companies: [], game_modes: [], age_ratings: [], player_counts: [],
  regions: [], languages: [], tags: [], platforms: []
})

/** Every value the ROMs under a condition have, sorted. */
export async function selectFilterValues (
  em: EntityManager, userId: number | null, condition: Condition
): Promise<RomFilters> {
  const lists = LISTS.map((name) => sql`(select jsonb_agg(v) from (
    select distinct unnest(${sql.ref(name)}) as v from scoped) x) as ${sql.ref(name)}`)
  const { rows } = await sql<Partial<Record<keyof RomFilters, unknown[] | null>>>`
    with scoped as materialized (
      select ${sql.join(LISTS.map((name) => sql.ref(`r.${name}`)))}, r.player_count, r.platform_id
      from ${romTables(userId)} where ${condition})
    select ${sql.join(lists)},
      (select jsonb_agg(distinct player_count) from scoped) as player_counts,
      (select jsonb_agg(distinct platform_id) from scoped) as platforms`.execute(em.getKysely())
  const found = rows[0] ?? {}
  const texts = (name: keyof RomFilters) => (found[name] ?? []).filter((value) => typeof value === 'string').sort()
  return {
    genres: texts('genres'),
    franchises: texts('franchises'),
    collections: texts('collections'),
    companies: texts('companies'),
    game_modes: texts('game_modes'),
    age_ratings: texts('age_ratings'),
    player_counts: texts('player_counts'),
    regions: texts('regions'),
    languages: texts('languages'),
    tags: texts('tags'),
    platforms: (found.platforms ?? []).filter((id) => typeof id === 'number').sort((a, b) => a - b)
  }
}
