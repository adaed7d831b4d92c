import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '../../../core/config/config.ts'
import type { User } from '../../users/entities.ts'
import { setSessionCookie } from '../cookie.ts'
import { type SessionEnds, clearSession } from './end-session.ts'
import { openSession } from './open-session.ts'

/** Optional facts about a sign-in, besides its account. */
export interface SignInExtra {
  /** The OpenID provider's proof, which it expects when the session ends there too. */
  idToken?: string
  /** The method of the sign-in, for the audit log. */
  by?: string
}

/** The response to a sign-out from a session that an OpenID provider opened. */
export interface SignOutView { oidc_logout_url: string | null }

/** Creates the sign-in of browsers, and their sign-out. */
export function createSignInOut (app: FastifyInstance, config: Config, { end }: SessionEnds) {
  let signOutAtProvider: ((idToken: string) => Promise<SignOutView | null>) | null = null

  return {
    /**
     * Opens a session for an authenticated user, replaces the browser's former one, and sets its cookie.
     *
     * @throws ApiError BAD_CREDENTIALS if the account was disabled or its password changed meanwhile
     */
    async signIn (request: FastifyRequest, reply: FastifyReply, user: User, extra: SignInExtra = {}): Promise<void> {
      const former = request.caller?.session_id ?? null
      const { token, caller } = await openSession(app, config, request, { user, idToken: extra.idToken })
      if (former !== null) await end(former)
      // From here on the response belongs to this caller and carries a CSRF token of the new session.
      request.caller = caller
      setSessionCookie(config, request, reply, token)
      const details = { by: extra.by ?? 'password' }
      await app.audit.record({ event: 'sign_in.succeeded', user, address: request.ip, details })
    },

    /**
     * Ends the caller's session. @returns the address at which to sign out too, if an OpenID provider opened the
     * session
     */
    async signOut (request: FastifyRequest, reply: FastifyReply): Promise<SignOutView | null> {
      const { caller } = request
      const idToken = caller === null || caller.session_id === null ? null : await end(caller.session_id)
      if (caller?.credential === 'session') await app.audit.record({ event: 'sign_out', user: caller, address: request.ip })
      clearSession(config, request, reply)
      return idToken === null || signOutAtProvider === null ? null : await signOutAtProvider(idToken)
    },

    /** Sets the function that answers a sign-out from a session with an OpenID provider's proof. */
    onSignOut (answer: (idToken: string) => Promise<SignOutView | null>): void {
      signOutAtProvider = answer
    }
  }
}
