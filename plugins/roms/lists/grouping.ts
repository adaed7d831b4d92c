import { type RawBuilder, sql } from 'kysely'
import { regionCodes } from '../../library/names.ts'
import type { Condition } from '../filters/conditions.ts'

const REGIONS = ['Australia', 'Asia', 'Brazil', 'Canada', 'China', 'Europe', 'France', 'Finland', 'Germany', 'Greece',
  'Holland', 'Hong Kong', 'Italy', 'Japan', 'Korea', 'Netherlands', 'Norway', 'Russia', 'Spain', 'Sweden', 'Taiwan',
  'USA', 'England', 'World']
const PRE_RELEASE = '[(\\[](demo|beta|proto|sample|kiosk|preview)'

/** Region names in the order of the region priority setting. */
function rankRegions (priority: readonly string[]): string[] {
  return priority.flatMap((code) => REGIONS.filter((name) => regionCodes([name])[0] === code))
}

/** For every ROM that a provider knows the id the first of these providers gives it, behind that one's place. */
const groupKeys = (keys: readonly string[]): RawBuilder<unknown> => sql`(
  select m.rom_id, min(lpad(array_position(${keys}::text[], m.provider)::text, 6, '0') || m.provider_id) as key
  from rom_matches m where m.provider = any(${keys}::text[]) group by m.rom_id)`

/**
 * One ROM of every group of the same game on a platform: the viewer's main one, else a finished game before a demo or
 * beta, else by the region people want most. The others are left out, so that ROMs nobody knows need no sorting.
 *
 * @param from what the condition is read from
 */
export function isRepresentative (
  from: RawBuilder<unknown>, condition: Condition, keys: readonly string[], regionPriority: readonly string[]
): Condition {
  const others = sql`select g.id from (
    select r.id, row_number() over (
      partition by r.platform_id, k.key
      order by coalesce(u.is_main_sibling, false) desc, r.fs_name ~* ${PRE_RELEASE},
        array_position(${rankRegions(regionPriority)}::text[], r.regions[1]) nulls last, r.fs_name_no_ext, r.id
    ) as rank from ${from} join ${groupKeys(keys)} k on k.rom_id = r.id where k.key is not null and ${condition}) g
    where g.rank > 1`
  // Not `not in`: beyond some hundred thousand the database would look through the list for each ROM.
  return sql<boolean>`(${condition} and not exists (select from (${others}) o where o.id = r.id))`
}
