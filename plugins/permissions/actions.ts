import { type Access, isGranted } from '../../core/access/grants.ts'

/** Actions that clients offer, and the grant that each needs. Null means only administrators. */
const ACTIONS = {
  'rom.view': ['roms', 'read'],
  'rom.play': ['roms', 'read'],
  'rom.download': ['roms', 'read'],
  'rom.upload': ['roms', 'write'],
  'rom.edit': ['roms', 'write'],
  'rom.delete': ['roms', 'delete'],
  'rom.match': ['roms', 'write'],
  'rom.refresh': ['roms', 'write'],
  'rom.favorite': ['roms', 'read'],
  'platform.view': ['platforms', 'read'],
  'platform.create': ['platforms', 'write'],
  'platform.edit': ['platforms', 'write'],
  'platform.delete': ['platforms', 'delete'],
  'collection.view': ['collections', 'read'],
  'collection.create': ['collections', 'write'],
  'collection.edit': ['collections', 'write'],
  'collection.delete': ['collections', 'delete'],
  'library.scan': ['platforms', 'write'],
  'user.view': ['users', 'read'],
  'user.create': ['users', 'write'],
  'user.edit': ['users', 'write'],
  'user.delete': ['users', 'write'],
  'app.admin': null
} as const

export type ActionKey = keyof typeof ACTIONS
export const ACTION_KEYS = Object.keys(ACTIONS) as ActionKey[]

/** Lists the actions an account may take, at least on its own objects. */
export function listActions (access: Access): ActionKey[] {
  return ACTION_KEYS.filter((key) => {
    const grant = ACTIONS[key]
    return grant === null ? access.is_admin : isGranted(access, grant[0], grant[1], true)
  })
}
