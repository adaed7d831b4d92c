import { type RawBuilder, sql } from 'kysely'
import { type AnyCaller, canSeeEverything } from '../../platforms/visibility.ts'
import { isRomVisible } from '../visibility.ts'

/** Selects the ids of a row `g` of `rom_games` at these providers, which include all trusted providers. */
const otherIdsBy = (keys: readonly string[]) =>
  sql`select i.id from unnest(g.other_ids) with ordinality i (id, place) where split_part(i.id, ':', 1) = any(${keys}::text[]) order by i.place`

/** The id of a game at the first provider that knows it; null if none does. */
export const gameBy = (keys: readonly string[]) => sql`coalesce(g.ids[1], (${otherIdsBy(keys)} limit 1)) collate "C"`

const idsBy = (keys: readonly string[]) =>
  sql`case when g.other_ids = '{}' then g.ids else g.ids || array(${otherIdsBy(keys)}) end`

/** The games of the ROMs that the caller sees. No ROM is read for a caller who sees everything. */
const gamesSeenBy = (caller: AnyCaller) => canSeeEverything(caller)
  ? sql`rom_games g`
  : sql`rom_games g join roms r on r.id = g.rom_id where ${isRomVisible(caller)}`

/**
 * Selects the ids of all ROMs of which the caller sees another ROM of the platform that one of the providers considers
 * the same game; once or repeatedly.
 */
export const idsWithSiblings = (keys: readonly string[], caller: AnyCaller): RawBuilder<unknown> => sql`
  select s.rom_id from (
    select i.rom_id, count(*) over (partition by hashtextextended(i.id, i.platform_id), i.platform_id, i.id) as roms
    from (select g.rom_id, g.platform_id, unnest(${idsBy(keys)}) collate "C" as id from ${gamesSeenBy(caller)}) i) s
  where s.roms > 1`

/** True if a ROM is among {@link idsWithSiblings}. */
export const hasSiblings = (keys: readonly string[], caller: AnyCaller): RawBuilder<boolean> =>
  sql<boolean>`exists (select from (${idsWithSiblings(keys, caller)}) s where s.rom_id = r.id)`

/** True if a ROM has a sibling; faster than {@link hasSiblings} if the condition applies to few ROMs. */
export const hasSibling = (keys: readonly string[], caller: AnyCaller): RawBuilder<boolean> => sql<boolean>`exists (
  select 1 from rom_matches a join rom_matches b on b.provider = a.provider and b.provider_id = a.provider_id
  where a.rom_id = r.id and b.rom_id <> a.rom_id and a.provider = any(${keys}::text[]) and (b.rom_id, r.platform_id) in (
    select r.id, r.platform_id from roms r where r.id = b.rom_id and ${isRomVisible(caller)}))`
