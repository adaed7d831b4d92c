import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { CallerCache } from '../../../core/access/caller-cache.ts'
import type { Config } from '../../../core/config/config.ts'
import { inTransaction } from '../../../core/database/transaction.ts'
import { clearSessionCookie } from '../cookie.ts'
import { OneTimeToken } from '../entities.ts'
import { deleteSession, deleteSessions, lockUserForUpdate } from '../rows.ts'

/** The purpose of the seal of an OpenID provider's proof. */
export const ID_TOKEN_PURPOSE = 'oidc-id-token'

/** From here on the response belongs to no caller, and its browser deletes the session cookie. */
export function clearSession (config: Config, request: FastifyRequest, reply: FastifyReply): void {
  request.caller = null
  clearSessionCookie(config, reply)
}

/** Creates the ways to end sessions, with everything that was opened with them. */
export function createSessionEnds (app: FastifyInstance, callerCache: CallerCache) {
  /** Ends a session and disconnects its sockets. @returns the OpenID provider's proof, if one opened the session */
  async function end (id: number): Promise<string | null> {
    const sealed = await deleteSession(app.db, id)
    callerCache.clear()
    await app.sockets.end({ kind: 'session', id })
    return sealed === null ? null : app.secrets.open(ID_TOKEN_PURPOSE, sealed)
  }

  /** Ends a user's sessions, all or all but one, with their sockets, and the OAuth2 sign-ins with all their tokens. */
  async function endAll (userId: number, remainingId: number | null = null): Promise<void> {
    const ended = await inTransaction(app.db, async (tx) => {
      // Wait for a refresh that is running, because its new token would not be found yet.
      await lockUserForUpdate(tx, userId)
      await tx.em.nativeDelete(OneTimeToken, { user: userId, purpose: 'refresh' })
      return await deleteSessions(tx, userId, remainingId)
    })
    for (const { id } of ended) await app.sockets.end({ kind: 'session', id })
    if (remainingId === null) await app.sockets.end({ kind: 'user', id: userId })
  }

  return { end, endAll }
}
export type SessionEnds = ReturnType<typeof createSessionEnds>
