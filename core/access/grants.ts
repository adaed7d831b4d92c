import { SCOPES, type Scope } from './scopes.ts'

export const GRANT_ENTITIES = ['platforms', 'roms', 'collections', 'playlists', 'firmware', 'assets', 'devices', 'users',
  'tasks', 'logs'] as const
export const GRANT_ACTIONS = ['read', 'write', 'delete'] as const
export type GrantEntity = typeof GRANT_ENTITIES[number]
export type GrantAction = typeof GRANT_ACTIONS[number]

/** Entities that have an owner. Nobody owns the others, so a grant for own ones of them allows nothing. */
const OWNED: ReadonlySet<GrantEntity> = new Set<GrantEntity>(['collections', 'playlists', 'assets', 'devices'])

/** Permission for one action on one kind of entity; `own_only` limits it to the user's own ones. */
export interface Grant { entity: GrantEntity, action: GrantAction, own_only: boolean }

/** The rights of an account. */
export interface Access {
  /** Everything is allowed and nothing hidden. */
  is_admin: boolean
  /** The group whose grants and hidden entities apply; null for administrators. */
  group_id: number | null
  grants: readonly Grant[]
  /** The highest minimum age of the ROMs that are shown; null for no limit. */
  age_limit: number | null
  hide_unrated_roms: boolean
}

/** Scopes that every real account always has. */
const PERSONAL_SCOPES: ReadonlySet<Scope> = new Set<Scope>(['me.read', 'me.write', 'roms.user.read', 'roms.user.write'])
/** Grants whose scope has a different name. */
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

/**
 * Returns the scopes of an account, in canonical order. A grant to delete gives no scope: routes check that grant
 * directly. Neither does a grant for own platforms, ROMs, firmware, users, tasks or logs, because those have no owner.
 */
export function scopesOf (access: Access): Scope[] {
  if (access.is_admin) return [...SCOPES]
  const effective = access.grants.filter(({ entity, own_only: ownOnly }) => !ownOnly || OWNED.has(entity))
  const granted = new Set(effective.map(scopeOf))
  return SCOPES.filter((scope) => PERSONAL_SCOPES.has(scope) || granted.has(scope))
}

/** True if the account may do the action on an entity; `isOwn` tells whether that entity is its own. */
export function isGranted (access: Access, entity: GrantEntity, action: GrantAction, isOwn: boolean): boolean {
  return access.is_admin || access.grants.some((grant) =>
    grant.entity === entity && grant.action === action && (isOwn || !grant.own_only))
}
