import type { FastifyInstance } from 'fastify'
import type { AuthScheme, Caller, RequestCredentials } from '../../../core/access/auth.ts'
import { scopesOf } from '../../../core/access/grants.ts'
import type { Scope } from '../../../core/access/scopes.ts'
import { loadGuestAccess } from '../../permissions/access-rows.ts'

/** No account has this id. */
const KIOSK_ID = -1
/** The most scopes a guest may have. A guest gets those of them that the default group grants. */
const KIOSK_SCOPES: ReadonlySet<Scope> = new Set<Scope>(['me.read', 'roms.read', 'platforms.read', 'assets.read',
  'devices.read', 'firmware.read', 'roms.user.read', 'collections.read', 'playlists.read'])

/** In kiosk mode a request without credentials belongs to a guest who may read. Wrong credentials are still refused. */
export function createKioskScheme (app: FastifyInstance): AuthScheme {
  async function authenticate ({ authorization }: RequestCredentials): Promise<Caller | null> {
    if (authorization !== undefined) return null
    const access = await loadGuestAccess(app.db)
    return {
      id: KIOSK_ID,
      username: 'kiosk',
      role: 'user',
      access,
      scopes: new Set(scopesOf(access).filter((scope) => KIOSK_SCOPES.has(scope))),
      credential: 'kiosk',
      session_id: null,
      token_id: null,
      device_id: null,
      password_mark: ''
    }
  }
  return { name: 'kiosk', order: 90, opensSockets: false, authenticate }
}
