import type { EntityManager } from '@mikro-orm/postgresql'
import { sql } from 'kysely'
import type { Condition } from './conditions.ts'
import type { Order } from './order.ts'
import { romTables } from './rows.ts'

/** What a client needs to jump about in a list. */
export interface PageIndex {
  total: number | null
  char_index: Record<string, number>
  rom_id_index: number[]
}

export interface IndexParts { total: boolean, characters: boolean, ids: boolean }

/** Counts and positions over all matching ROMs, in one query, without fetching them. */
export async function selectPageIndex (
  em: EntityManager, userId: number | null, condition: Condition, order: Order, parts: IndexParts
): Promise<PageIndex> {
  if (!parts.total && !parts.characters && !parts.ids) return { total: null, char_index: {}, rom_id_index: [] }
  const position = parts.characters || parts.ids ? sql`row_number() over (order by ${order.by}) - 1` : sql`null`
  const characters = sql`(select jsonb_object_agg(c.character, c.first) from (
    select character, min(position) as first from matching where character <> '' group by character) c)`
  const { rows } = await sql<{ total: number, characters: Record<string, number> | null, ids: number[] | null }>`
    with matching as (
      select r.id, ${position} as position, ${parts.characters ? order.character : sql`null::text`} as character
      from ${romTables(userId)} where ${condition})
    select (select count(*)::int from matching) as total,
      ${parts.characters ? characters : sql`null::jsonb`} as characters,
      ${parts.ids ? sql`(select jsonb_agg(id order by position) from matching)` : sql`null::jsonb`} as ids
    `.execute(em.getKysely())
  const found = rows[0]
  return {
    total: parts.total || parts.ids ? found?.total ?? 0 : null,
    char_index: Object.fromEntries(Object.entries(found?.characters ?? {}).sort(([, a], [, b]) => a - b)),
    rom_id_index: found?.ids ?? []
  }
}
