import { type RawBuilder, sql } from 'kysely'
import type { Caller } from '../../core/access/auth.ts'
import { isGranted } from '../../core/access/grants.ts'

/** The user or guest of a query with its access, or null for the server itself, which sees everything. */
export type AnyCaller = Pick<Caller, 'id' | 'access'> | null

/** True if a caller may read what other users made public. A grant for own objects only does not allow that. */
export const readsPublic = (caller: AnyCaller, entity: 'collections' | 'playlists' | 'assets'): boolean =>
  caller === null || isGranted(caller.access, entity, 'read', false)

/** Returns a cache key. Callers with equal keys see the same, except for what each hid personally. */
export function callerKey (caller: AnyCaller): string {
  if (caller === null) return 'server'
  const { is_admin: isAdmin, group_id: group, age_limit: limit, hide_unrated_roms: hidesUnrated } = caller.access
  const grants = [readsPublic(caller, 'collections'), readsPublic(caller, 'assets')]
  return JSON.stringify([caller.id, isAdmin, group, limit, hidesUnrated, ...grants])
}

/** The condition that a platform or ROM is not hidden from a caller. */
export function isNotHidden (
  caller: NonNullable<AnyCaller>, entity: 'platforms' | 'roms', id: string
): RawBuilder<boolean> {
  return sql<boolean>`not exists (select 1 from hidden_entities h where h.entity = ${entity}
    and h.entity_id = ${sql.ref(id)} and (h.user_id = ${caller.id} or h.group_id = ${caller.access.group_id}))`
}

export const canSeeEverything = (caller: AnyCaller): boolean => caller === null || caller.access.is_admin

/** Selects the ids of platforms or ROMs that are hidden from a caller. */
export function hiddenIds (caller: NonNullable<AnyCaller>, entity: 'platforms' | 'roms'): RawBuilder<unknown> {
  return sql`select h.entity_id from hidden_entities h where h.entity = ${entity}
    and (h.user_id = ${caller.id} or h.group_id = ${caller.access.group_id})`
}

/** The condition for a caller to see a row of `platforms`, aliased `p`. Every query for a caller contains it. */
export function isPlatformVisible (caller: AnyCaller): RawBuilder<boolean> {
  return caller === null || canSeeEverything(caller) ? sql<boolean>`true` : isNotHidden(caller, 'platforms', 'p.id')
}
