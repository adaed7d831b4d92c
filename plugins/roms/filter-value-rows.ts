import type { EntityManager } from '@mikro-orm/postgresql'
import { sql } from 'kysely'
import type { Condition } from './conditions.ts'
import { markedRoms } from './rows.ts'
import { gameFieldsIn, mapGameFields } from './game-fields.ts'
import type { RomFilters } from './schemas.ts'

const GAME_LISTS = gameFieldsIn('filters')
type GameList = typeof GAME_LISTS[number]
const LISTS = [...GAME_LISTS, 'tags'] as const

type Found = Partial<Record<keyof RomFilters, unknown[] | null>>

const texts = (values: readonly unknown[] | null = []) => (values ?? []).filter((value) => typeof value === 'string').sort()

function toFilters (found: Found): RomFilters {
  return {
    ...mapGameFields<GameList, Pick<RomFilters, GameList>>(GAME_LISTS, (name) => texts(found[name])),
    player_counts: texts(found.player_counts),
    tags: texts(found.tags),
    platforms: (found.platforms ?? []).filter((id) => typeof id === 'number').sort((a, b) => a - b)
  }
}

export const noFilterValues = (): RomFilters => toFilters({})

/** Every value the ROMs under a condition have, sorted. */
export async function selectFilterValues (
  em: EntityManager, userId: number | null, condition: Condition
): Promise<RomFilters> {
  const lists = LISTS.map((name) => sql`(select jsonb_agg(v) from (
    select distinct unnest(${sql.ref(name)}) as v from scoped) x) as ${sql.ref(name)}`)
  const { rows } = await sql<Found>`
    with scoped as materialized (
      select ${sql.join(LISTS.map((name) => sql.ref(`r.${name}`)))}, r.player_count, r.platform_id
      from ${markedRoms(userId)} where ${condition})
    select ${sql.join(lists)},
      (select jsonb_agg(distinct player_count) from scoped) as player_counts,
      (select jsonb_agg(distinct platform_id) from scoped) as platforms`.execute(em.getKysely())
  return toFilters(rows[0] ?? {})
}
