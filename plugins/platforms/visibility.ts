import { type RawBuilder, sql } from 'kysely'
import type { Caller } from '../../core/access/auth.ts'

/** Who is looking: a caller, a guest with the access of one, or null for the server itself, which sees everything. */
export type Viewer = Pick<Caller, 'id' | 'access'> | null

/** The same for two viewers means that they see the same, but for what each hid from himself. */
export function viewerKey (viewer: Viewer): string {
  if (viewer === null) return 'server'
  const { is_admin: isAdmin, group_id: group, age_limit: limit, hide_unrated_roms: hidesUnrated } = viewer.access
  return JSON.stringify([viewer.id, isAdmin, group, limit, hidesUnrated])
}

/** The condition that nobody hid a thing from a viewer. */
export function isNotHidden (
  viewer: NonNullable<Viewer>, entity: 'platforms' | 'roms', id: string
): RawBuilder<boolean> {
  return sql<boolean>`not exists (select 1 from hidden_entities h where h.entity = ${entity}
    and h.entity_id = ${sql.ref(id)} and (h.user_id = ${viewer.id} or h.group_id = ${viewer.access.group_id}))`
}

export const seesEverything = (viewer: Viewer): boolean => viewer === null || viewer.access.is_admin

/** The ids of the things of a kind that somebody hid from a viewer. */
export function hiddenIds (viewer: NonNullable<Viewer>, entity: 'platforms' | 'roms'): RawBuilder<unknown> {
  return sql`select h.entity_id from hidden_entities h where h.entity = ${entity}
    and (h.user_id = ${viewer.id} or h.group_id = ${viewer.access.group_id})`
}

/**
 * The condition under which a viewer sees a row of `platforms`, aliased `p`. Every query that answers someone has it.
 */
export function isPlatformVisible (viewer: Viewer): RawBuilder<boolean> {
  return viewer === null || seesEverything(viewer) ? sql<boolean>`true` : isNotHidden(viewer, 'platforms', 'p.id')
}
