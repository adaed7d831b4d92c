import { type RawBuilder, sql } from 'kysely'
import { regionCodes } from '../../library/names.ts'
import type { Condition } from '../list-conditions.ts'
import { gameBy } from '../filters/siblings.ts'

const REGIONS = ['Australia', 'Asia', 'Brazil', 'Canada', 'China', 'Europe', 'France', 'Finland', 'Germany', 'Greece',
  'Holland', 'Hong Kong', 'Italy', 'Japan', 'Korea', 'Netherlands', 'Norway', 'Russia', 'Spain', 'Sweden', 'Taiwan',
  'USA', 'England', 'World']

/** Region names in the order of the region priority setting. */
function rankRegions (priority: readonly string[]): string[] {
  return priority.flatMap((code) => REGIONS.filter((name) => regionCodes([name])[0] === code))
}

/**
 * The one of every group of the same game on a platform that is shown: the viewer's main one, else a finished game
 * before a demo or beta, else by the region people want most. The others are left out, so that ROMs nobody knows need
 * no sorting.
 *
 * @param from what the condition is read from
 * @param condition which ROMs groups are made of: those that the list is narrowed to by anything but what is true of
 * either all ROMs of a group or none
 * @param keys the identifying providers
 */
export function isRepresentative (
  from: RawBuilder<unknown>, condition: Condition, keys: readonly string[], regionPriority: readonly string[]
): Condition {
  // By a number first, which is compared faster than names are.
  const others = sql`select s.id from (
    select r.id, k.game, row_number() over (
      partition by hashtextextended(k.game, g.platform_id), g.platform_id, k.game
      order by coalesce(u.is_main_sibling, false) desc, g.is_early,
        array_position(${rankRegions(regionPriority)}::text[], g.region) nulls last, g.fs_name_no_ext, r.id
    ) as rank from ${from} join rom_games g on g.rom_id = r.id cross join lateral (select ${gameBy(keys)} as game) k
    where ${condition}) s where s.game is not null and s.rank > 1`
  // Not `not in`: beyond some hundred thousand the database would look through the list for each ROM.
  return sql<boolean>`not exists (select from (${others}) o where o.id = r.id)`
}
