import { SCOPES, type Scope } from './scopes.ts'

export const GRANT_ENTITIES = ['platforms', 'roms', 'collections', 'playlists', 'firmware', 'assets', 'devices', 'users',
  'tasks', 'logs'] as const
export const GRANT_ACTIONS = ['read', 'write', 'delete'] as const
export type GrantEntity = typeof GRANT_ENTITIES[number]
export type GrantAction = typeof GRANT_ACTIONS[number]

/** Leave to do something with one kind of thing; `own_only`: with the user's own alone. */
export interface Grant { entity: GrantEntity, action: GrantAction, own_only: boolean }

/** What an account may do and see. */
export interface Access {
  /** Everything, with nothing hidden. */
  is_admin: boolean
  /** The group whose grants and hidden entities apply; null for administrators. */
  group_id: number | null
  grants: readonly Grant[]
  /** The highest minimum age of ROMs that are shown; null for no limit. */
  age_limit: number | null
  hide_unrated_roms: boolean
}

/** Never taken away from a real account. */
const PERSONAL_SCOPES: ReadonlySet<Scope> = new Set<Scope>(['me.read', 'me.write', 'roms.user.read', 'roms.user.write'])
/** Grants whose scope is not called after them. */
const SPECIAL_SCOPES: Readonly<Record<string, Scope | null>> = {
  'tasks.write': 'tasks.run', 'tasks.read': null, 'logs.read': 'logs.read', 'logs.write': null
}

export const ADMIN_ACCESS: Access = {
  is_admin: true, group_id: null, grants: [], age_limit: null, hide_unrated_roms: false
}

function scopeOf ({ entity, action }: Grant): string | null {
  const name = `${entity}.${action}`
  return name in SPECIAL_SCOPES ? SPECIAL_SCOPES[name] ?? null : name
}

/** The scopes an account holds, in canonical order. A grant to delete gives none: routes ask for it by itself. */
export function scopesOf (access: Access): Scope[] {
  if (access.is_admin) return [...SCOPES]
  const granted = new Set(access.grants.map(scopeOf))
  return SCOPES.filter((scope) => PERSONAL_SCOPES.has(scope) || granted.has(scope))
}

/** Whether an account may do something with a thing that is its own, or not. */
export function isGranted (access: Access, entity: GrantEntity, action: GrantAction, isOwn: boolean): boolean {
  return access.is_admin || access.grants.some((grant) =>
    grant.entity === entity && grant.action === action && (isOwn || !grant.own_only))
}
