import { type RawBuilder, sql } from 'kysely'
import { regionCodes } from '../../core/library/names.ts'
import type { Condition } from './conditions.ts'

const REGIONS = ['Australia', 'Asia', 'Brazil', 'Canada', 'China', 'Europe', 'France', 'Finland', 'Germany', 'Greece',
  'Holland', 'Hong Kong', 'Italy', 'Japan', 'Korea', 'Netherlands', 'Norway', 'Russia', 'Spain', 'Sweden', 'Taiwan',
  'USA', 'England', 'World']
const PRE_RELEASE = '[(\\[](demo|beta|proto|sample|kiosk|preview)'

/** Region names in the order of the region priority setting. */
function rankRegions (priority: readonly string[]): string[] {
  return priority.flatMap((code) => REGIONS.filter((name) => regionCodes([name])[0] === code))
}

/** The id of the first source that knows a ROM; the ROM itself when none does. */
const groupKey = (keys: readonly string[]): RawBuilder<string> => sql<string>`coalesce((
  select m.provider || ' ' || m.provider_id from rom_matches m where m.rom_id = r.id and m.provider = any(${keys}::text[])
  order by array_position(${keys}::text[], m.provider) limit 1), 'rom ' || r.id)`

/**
 * One ROM of every group of the same game on a platform: the viewer's main one, else a finished game before a demo or
 * beta, else by the region people want most.
 *
 * @param from what the condition is read from
 */
export function isRepresentative (
  from: RawBuilder<unknown>, condition: Condition, keys: readonly string[], regionPriority: readonly string[]
): Condition {
  return sql<boolean>`r.id in (select g.id from (
    select r.id, row_number() over (
      partition by r.platform_id, ${groupKey(keys)}
      order by coalesce(u.is_main_sibling, false) desc, r.fs_name ~* ${PRE_RELEASE},
        array_position(${rankRegions(regionPriority)}::text[], r.regions[1]) nulls last, r.fs_name_no_ext, r.id
    ) as rank from ${from} where ${condition}) g where g.rank = 1)`
}
