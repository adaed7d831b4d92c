import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Caller } from '../../core/auth.ts'
import { ADMIN_ACCESS, type Access, scopesOf } from '../../core/grants.ts'
import type { User } from '../users/entities.ts'
import { loadAccess, loadGuestAccess } from './access.ts'

/** No account has it. */
const GUEST_ID = 0

/** By what an account came, and what that credential narrows. */
export type Credential = Pick<Caller, 'credential'> & Partial<Pick<Caller, 'session_id' | 'token_id' | 'device_id'>> & {
  /** The scopes a token names; without them all the account holds. */
  scopes?: readonly string[]
}

export function createPermissions (app: FastifyInstance) {
  async function accessOf (user: Pick<User, 'id' | 'role'>): Promise<Access> {
    if (user.role === 'admin') return ADMIN_ACCESS
    const access = (await loadAccess(app.pg, [user.id])).get(user.id)
    // The account was deleted this moment.
    return access ?? { is_admin: false, group_id: null, grants: [], age_limit: 0, hide_unrated_roms: true }
  }

  return {
    accessOf,

    /** What several accounts may do and see, by user id. */
    listAccess: (userIds: readonly number[]) => loadAccess(app.pg, userIds),

    /** Who looks at what may be open to anyone: the caller, or a guest who sees what the default group sees. */
    viewerOf: async (request: FastifyRequest): Promise<Pick<Caller, 'id' | 'access'>> =>
      request.caller ?? { id: GUEST_ID, access: await loadGuestAccess(app.pg) },

    /** The caller that an account is by some credential; a token never allows more than its owner may. */
    async toCaller (user: Pick<User, 'id' | 'username' | 'role'>, given: Credential): Promise<Caller> {
      const access = await accessOf(user)
      const { scopes: named, credential, session_id: session, token_id: token, device_id: device } = given
      const held = scopesOf(access)
      return {
        id: user.id,
        username: user.username,
        role: user.role,
        access,
        scopes: new Set(named === undefined ? held : held.filter((scope) => named.includes(scope))),
        credential,
        session_id: session ?? null,
        token_id: token ?? null,
        device_id: device ?? null
      }
    }
  }
}
