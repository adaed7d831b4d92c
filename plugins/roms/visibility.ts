import { type RawBuilder, sql } from 'kysely'
import { type AnyCaller, hiddenIds, isNotHidden, isPlatformVisible, readsPublic } from '../platforms/visibility.ts'

/** True if a ROM passes the caller's age limit. An unrated ROM passes unless unrated ROMs are hidden. */
function isOfAge ({ access }: NonNullable<AnyCaller>): RawBuilder<boolean> {
  const { age_limit: limit, hide_unrated_roms: hidesUnrated } = access
  if (limit === null) return hidesUnrated ? sql<boolean>`r.min_age is not null` : sql<boolean>`true`
  return sql<boolean>`coalesce(r.min_age <= ${limit}, ${!hidesUnrated}::boolean)`
}

/**
 * The condition for counts `r` of ROMs of one age of a platform `p`. ROMs that are hidden one by one are not
 * considered: see {@link isRomHidden}.
 */
export function isCountVisible (caller: AnyCaller): RawBuilder<boolean> {
  if (caller === null || caller.access.is_admin) return sql<boolean>`true`
  return sql<boolean>`(${isPlatformVisible(caller)} and ${isOfAge(caller)})`
}

/**
 * The condition that a row of `roms`, aliased `r`, is hidden from a caller. Uses the hide rules, because they are few.
 */
export function isRomHidden (caller: AnyCaller): RawBuilder<boolean> {
  return caller === null || caller.access.is_admin
    ? sql<boolean>`false`
    : sql<boolean>`r.id in (${hiddenIds(caller, 'roms')})`
}

/** True if a caller may see a game that is not in the library, such as a match of a provider. */
export function mayBeShown ({ access }: NonNullable<AnyCaller>, minAge: number | null): boolean {
  if (access.is_admin) return true
  if (minAge === null) return !access.hide_unrated_roms
  return access.age_limit === null || minAge <= access.age_limit
}

/**
 * The condition for a caller to see a row of `roms`, aliased `r`. Every query for a caller contains it: lists, counts,
 * lookups by hash or id, siblings, files and downloads.
 */
export function isRomVisible (caller: AnyCaller): RawBuilder<boolean> {
  if (caller === null || caller.access.is_admin) return sql<boolean>`true`
  return sql<boolean>`(${isNotHidden(caller, 'platforms', 'r.platform_id')} and ${isNotHidden(caller, 'roms', 'r.id')} and ${isOfAge(caller)})`
}

/**
 * The condition for a caller to see a collection or playlist, aliased `c`: its own ones, and public ones unless it may
 * read only its own. Administrators are no exception.
 */
export function isCollectionVisible (
  caller: AnyCaller, entity: 'collections' | 'playlists' = 'collections'
): RawBuilder<boolean> {
  if (caller === null) return sql<boolean>`true`
  const isPublic = readsPublic(caller, entity) ? sql<boolean>`c.is_public` : sql<boolean>`false`
  return sql<boolean>`(c.user_id = ${caller.id} or ${isPublic})`
}
