/** Every scope in the order it is listed everywhere. */
export const SCOPES = [
  'me.read', 'roms.read', 'platforms.read', 'assets.read', 'devices.read', 'firmware.read', 'roms.user.read',
  'collections.read', 'playlists.read', 'me.write', 'assets.write', 'devices.write', 'roms.user.write',
  'collections.write', 'playlists.write', 'roms.write', 'platforms.write', 'firmware.write', 'users.read', 'users.write',
  'tasks.run', 'logs.read'
] as const
export type Scope = typeof SCOPES[number]

const MEMBER_SCOPES: ReadonlySet<Scope> = new Set<Scope>([
  'me.read', 'me.write', 'roms.user.read', 'roms.user.write', 'roms.read', 'platforms.read', 'firmware.read',
  'assets.read', 'collections.read', 'playlists.read', 'devices.read', 'assets.write', 'devices.write',
  'collections.write', 'playlists.write'
])

export function isScope (value: string): value is Scope {
  return (SCOPES as readonly string[]).includes(value)
}

/** What a role may do at all, in canonical order. */
export function scopesOfRole (role: 'admin' | 'user'): Scope[] {
  return role === 'admin' ? [...SCOPES] : SCOPES.filter((scope) => MEMBER_SCOPES.has(scope))
}
