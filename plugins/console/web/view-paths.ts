/** The paths of all views below the base URL. Tests check the accessibility of each. */
export const VIEW_PATHS = [
  '', 'platforms', 'platforms/:slug', 'collections', 'collections/:id', 'collections/smart/:id', 'collections/virtual/:id', 'roms', 'roms/:id',
  'roms/:id/edit', 'roms/:id/match', 'account/:section?', 'notifications', 'pair/device', 'setup/:step?', 'upload'
] as const
export type ViewPath = typeof VIEW_PATHS[number]

/** The pages outside of the frame, which need no session. */
export const ENTRANCE_PATHS = ['register', 'reset-password', 'forgot-password'] as const
export type EntrancePath = typeof ENTRANCE_PATHS[number]
