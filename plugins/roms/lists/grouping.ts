import { type RawBuilder, sql } from 'kysely'
import type { Condition } from '../../../core/database/conditions.ts'
import { regionCodes } from '../../library/names.ts'
import { gameBy } from '../filters/siblings.ts'

const REGIONS = ['Australia', 'Asia', 'Brazil', 'Canada', 'China', 'Europe', 'France', 'Finland', 'Germany', 'Greece',
  'Holland', 'Hong Kong', 'Italy', 'Japan', 'Korea', 'Netherlands', 'Norway', 'Russia', 'Spain', 'Sweden', 'Taiwan',
  'USA', 'England', 'World']

/** Region names in the order of the region priority setting. */
function rankRegions (priority: readonly string[]): string[] {
  return priority.flatMap((code) => REGIONS.filter((name) => regionCodes([name])[0] === code))
}

/** Finished games come before demos and betas, then the preferred region. */
const rankForAll = (regionPriority: readonly string[]) => sql`g.is_early,
  array_position(${rankRegions(regionPriority)}::text[], g.region) nulls last, g.fs_name_no_ext, g.rom_id`

/** The caller's main sibling comes first. */
const rankBy = (regionPriority: readonly string[]) =>
  sql`coalesce(u.is_main_sibling, false) desc, ${rankForAll(regionPriority)}`

/** The columns of a group: its platform and game. Numbers come first, because they compare faster than names. */
const GROUP = sql`hashtextextended(k.game, g.platform_id), g.platform_id, k.game`

/**
 * True for the ROM that represents its group, all ROMs of one game on a platform. The subquery selects the other ROMs
 * of each group, so ROMs without a known game need no sorting.
 *
 * @param from tables that the condition reads
 * @param condition the ROMs that form groups: all filters of the list, except those that are true for all ROMs of a
 * group or for none
 * @param keys the identifying providers
 */
export function isRepresentative (
  from: RawBuilder<unknown>, condition: Condition, keys: readonly string[], regionPriority: readonly string[]
): Condition {
  const betterSiblings = sql`select s.id from (
    select r.id, k.game, row_number() over (
      partition by ${GROUP} order by ${rankBy(regionPriority)}
    ) as rank from ${from} join rom_games g on g.rom_id = r.id cross join lateral (select ${gameBy(keys)} as game) k
    where ${condition}) s where s.game is not null and s.rank > 1`
  // Not `not in`: beyond some hundred thousand ids the database would search the list for each ROM.
  return sql<boolean>`not exists (select from (${betterSiblings}) o where o.id = r.id)`
}

/**
 * Selects the ROMs of all groups of several ROMs: group after group, a 0 and then its ROMs, without the marks of any
 * user. The first ROM of a group that a list contains represents the group there.
 */
export const selectGroups = (keys: readonly string[], regionPriority: readonly string[]): RawBuilder<unknown> => sql`
  select unnest(case when s.place = 1 then array[0, s.rom_id] else array[s.rom_id] end) from (
    select g.rom_id, row_number() over (game order by ${rankForAll(regionPriority)}) as place, count(*) over game as roms,
      row_number() over (order by ${GROUP}, ${rankForAll(regionPriority)}) as at
    from rom_games g cross join lateral (select ${gameBy(keys)} as game) k
    where k.game is not null window game as (partition by ${GROUP})) s
  where s.roms > 1 order by s.at`

/**
 * The same as {@link isRepresentative}, and faster if the condition applies to few ROMs: finds the best ROM of each
 * group by the matches of its game.
 */
export function isBestOfGroup (
  from: RawBuilder<unknown>, condition: Condition, keys: readonly string[], regionPriority: readonly string[]
): Condition {
  // The names of providers contain no colon. The index of matches has the default collation.
  const idOfGame = sql`(split_part(o.game, ':', 1) collate "default", substr(o.game, strpos(o.game, ':') + 1) collate "default")`
  return sql<boolean>`coalesce(r.id = (
    select r.id from (select g.platform_id, ${gameBy(keys)} as game from rom_games g where g.rom_id = r.id offset 0) o
    join rom_matches m on (m.provider, m.provider_id) = ${idOfGame}
    join (${from}) on r.id = m.rom_id
    join rom_games g on g.rom_id = r.id and g.platform_id = o.platform_id
    where ${gameBy(keys)} = o.game and ${condition} order by ${rankBy(regionPriority)} limit 1), true)`
}
