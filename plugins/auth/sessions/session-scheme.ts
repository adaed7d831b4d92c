import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { databaseNow } from '../../../core/database/clock.ts'
import type { AuthScheme, Caller, RequestCredentials } from '../../../core/access/auth.ts'
import type { CachedCaller, CallerCache } from '../../../core/access/caller-cache.ts'
import { sha256 } from '../../../core/access/secrets.ts'
import type { Config } from '../../../core/config/config.ts'
import { storeLastActive } from './activity-rows.ts'
import { readSessionCookie, setSessionCookie } from '../cookie.ts'
import { findLiveSession, renewSession } from '../rows.ts'

/** Minimum interval between two extensions of a session. */
const RENEW_AFTER_MS = 5 * 60_000

/** Creates the scheme that finds the session of a request by the hash of its cookie, and extends used sessions. */
export function createSessionScheme (app: FastifyInstance, config: Config, callerCache: CallerCache) {
  const { session_max_age_seconds: idleSeconds, session_absolute_max_age_seconds: absoluteSeconds } = config.auth
  const renewAfterMs = Math.min(RENEW_AFTER_MS, idleSeconds * 100)
  /** Callers whose session is extended with the response. */
  const due = new WeakSet<Caller>()

  async function findCaller (tokenHash: string): Promise<CachedCaller | null> {
    const session = await findLiveSession(app.db, tokenHash, absoluteSeconds)
    if (session === null) return null
    const user = { ...session, id: session.user_id }
    await storeLastActive(app.db, user)
    const caller = await app.permissions.toCaller(user, {
      credential: 'session', session_id: session.id, device_id: session.device_id
    })
    if (databaseNow() - session.seen_at > renewAfterMs) due.add(caller)
    return { caller, expires_at: session.expires_at }
  }

  async function authenticate ({ cookies }: RequestCredentials): Promise<Caller | null> {
    const token = readSessionCookie(config, cookies)
    if (token === undefined) return null
    const tokenHash = sha256(token)
    return await callerCache.find(tokenHash, () => findCaller(tokenHash))
  }

  const scheme: AuthScheme = { name: 'session', order: 10, opensSockets: true, authenticate }

  /**
   * Extends the session of a request, and its cookie. A session that ended meanwhile stays ended, because rows are only
   * updated and never inserted.
   */
  async function renew (request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { caller } = request
    if (caller === null || !due.delete(caller)) return
    const token = readSessionCookie(config, request.cookies)
    if (token === undefined) return
    const isRenewed = await renewSession(app.db, caller.session_id, idleSeconds, absoluteSeconds)
    if (isRenewed) setSessionCookie(config, request, reply, token)
  }

  return { scheme, renew }
}
