/** Every scope, in the order used in all lists. */
export const SCOPES = [
  'me.read', 'roms.read', 'platforms.read', 'assets.read', 'devices.read', 'firmware.read', 'roms.user.read',
  'collections.read', 'playlists.read', 'me.write', 'assets.write', 'devices.write', 'roms.user.write',
  'collections.write', 'playlists.write', 'roms.write', 'platforms.write', 'firmware.write', 'users.read', 'users.write',
  'tasks.run', 'logs.read'
] as const
export type Scope = typeof SCOPES[number]

export function isScope (value: string): value is Scope {
  return (SCOPES as readonly string[]).includes(value)
}
