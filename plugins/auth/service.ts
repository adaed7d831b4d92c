import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Caller, callerOf } from '../../core/access/auth.ts'
import type { CallerCache } from '../../core/access/caller-cache.ts'
import type { Config } from '../../core/config/config.ts'
import { databaseDate, databaseNow } from '../../core/database/clock.ts'
import type { Db } from '../../core/database/db.ts'
import { forbidden, notFound } from '../../core/errors.ts'
import { type SessionEnds, clearSession, createSessionEnds } from './sessions/end-session.ts'
import { OneTimeToken, Session } from './entities.ts'
import { createSessionScheme } from './sessions/session-scheme.ts'
import type { SignIn } from './sign-in/sign-in.ts'
import { createSignInOut } from './sessions/sign-in-out.ts'

/** Time after a sign-in in which the present password is not asked again. */
const FRESH_MS = 5 * 60_000

/** True if the session is a few minutes old, or if the request itself carried Basic credentials. */
async function hasJustSignedIn (db: Db, { credential, session_id: id }: Caller): Promise<boolean> {
  if (credential === 'basic') return true
  if (id === null) return false
  return await db.em.count(Session, { id, created_at: { $gt: new Date(databaseNow() - FRESH_MS) } }) > 0
}

/** Deletes expired sessions and one-time tokens. */
async function dropExpired (db: Db): Promise<void> {
  const isExpired = { expires_at: { $lt: databaseDate() } }
  await db.em.nativeDelete(Session, isExpired)
  await db.em.nativeDelete(OneTimeToken, isExpired)
}

/** Creates the sessions of browsers: rows that are found by the hash of their cookie. */
export function createSessions (app: FastifyInstance, config: Config, callerCache: CallerCache, signIn: SignIn) {
  const ends = createSessionEnds(app, callerCache)
  return {
    ...createSessionScheme(app, config, callerCache),
    ...createSignInOut(app, config, ends),
    ...createOwnSessions(app, config, ends),
    endAll: ends.endAll,
    dropExpired: () => dropExpired(app.db),

    /**
     * Requires the password before a change with which the finder of a signed-in browser could take over the account.
     *
     * @param password the present one; not needed if the sign-in is a few minutes old
     * @throws ApiError FORBIDDEN, or TOO_MANY_REQUESTS after wrong passwords
     */
    async requireOwner (caller: Caller, password: string | null | undefined, address: string): Promise<void> {
      if (password === undefined || password === null) {
        if (await hasJustSignedIn(app.db, caller)) return
        throw forbidden('Send your current password as current_password, or sign in again and repeat the request within five minutes')
      }
      const { status } = await signIn.check({ username: caller.username, password, address })
      if (status !== 'right') throw forbidden('The current_password is not your current password; correct it')
    }
  }
}

/** Creates the list of a caller's own sessions, and the ways to end them. */
function createOwnSessions (app: FastifyInstance, config: Config, { end, endAll }: SessionEnds) {
  return {
    list: async (db: Db, { id }: Caller): Promise<Session[]> => await db.em.find(Session,
      { user: id, expires_at: { $gt: databaseDate() } }, { populate: ['device'], orderBy: { seen_at: 'desc', id: 'desc' } }),

    /** Ends one of the caller's own sessions. @throws ApiError NOT_FOUND if the session is not the caller's. */
    async revoke (request: FastifyRequest, reply: FastifyReply, id: number): Promise<void> {
      const caller = callerOf(request)
      const isOwn = await request.db.em.count(Session, { id, user: caller.id }) > 0
      if (!isOwn) throw notFound(`Session with ID '${id}' not found`)
      await end(id)
      await app.audit.record({ event: 'session.revoked', user: caller, address: request.ip, details: { session_id: id } })
      if (id === caller.session_id) clearSession(config, request, reply)
    },

    /** Ends all of the caller's sessions, or all but the current one, and its OAuth2 sign-ins. */
    async revokeAll (request: FastifyRequest, reply: FastifyReply, withCurrent: boolean): Promise<void> {
      const caller = callerOf(request)
      const remainingId = withCurrent ? null : caller.session_id
      await endAll(caller.id, remainingId)
      await app.audit.record({
        event: 'session.revoked', user: caller, address: request.ip, details: { all: true, kept_current: remainingId !== null }
      })
      if (withCurrent && caller.session_id !== null) clearSession(config, request, reply)
    }
  }
}
