import { sql } from 'kysely'
import type { LongReads } from '../../library/long-reads.ts'
import { type AnyCaller, hiddenIds } from '../../platforms/visibility.ts'
import type { RomChanges } from '../../library-versions/change-rows.ts'

/** ROMs that one user sees or ranks differently. Of users with more, each list is read as a whole. */
export const OWN_ROMS_MAX = 20_000

/**
 * Loads the ROMs that a user hid, chose as main sibling, or may not see, except for an age limit; null for too many.
 *
 * @param isOfGroup true to skip the ROMs that the whole group of the user may not see
 */
export async function selectOwnRoms (
  tx: LongReads, { id: userId, access }: NonNullable<AnyCaller>, isOfGroup: boolean
): Promise<Set<number> | null> {
  const caller = { id: userId, access: isOfGroup ? { ...access, group_id: null } : access }
  const { rows } = await sql<{ id: number }>`select rom_id as id from rom_users where user_id = ${userId} and hidden
    union select rom_id from rom_users where user_id = ${userId} and is_main_sibling
    union ${hiddenIds(caller, 'roms')}
    union select r.id from (${hiddenIds(caller, 'platforms')}) h
      cross join lateral (select id from roms where platform_id = h.entity_id offset 0) r
    limit ${OWN_ROMS_MAX + 1}`.execute(tx)
  return rows.length > OWN_ROMS_MAX ? null : new Set(rows.map(({ id }) => id))
}

/** Adds all present and former siblings of ROMs, by the matches of these providers. */
export async function addSiblings (
  tx: LongReads, { ids, games }: RomChanges, providers: readonly string[]
): Promise<Set<number>> {
  if (ids.size === 0 && games.size === 0) return ids
  const { rows } = await sql<{ rom_id: number }>`
    with games as (
      select m.provider, m.provider_id from rom_matches m
      where m.rom_id = any(${[...ids]}::int[]) and m.provider = any(${providers}::text[]) and m.provider_id is not null
      union select split_part(g, ':', 1), substr(g, strpos(g, ':') + 1) from unnest(${[...games]}::text[]) g)
    select m.rom_id from games g join rom_matches m on m.provider = g.provider and m.provider_id = g.provider_id`.execute(tx)
  return ids.union(new Set(rows.map(({ rom_id: id }) => id)))
}
