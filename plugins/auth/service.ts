import { randomBytes } from 'node:crypto'
import { LockMode } from '@mikro-orm/core'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type AuthScheme, type Caller, type RequestCredentials, callerOf } from '../../core/access/auth.ts'
import type { CachedCaller, CallerCache } from '../../core/access/caller-cache.ts'
import type { Config } from '../../core/config/config.ts'
import type { Db } from '../../core/database/db.ts'
import { inTransaction } from '../../core/database/transaction.ts'
import { ApiError, forbidden, notFound } from '../../core/errors.ts'
import { sha256 } from '../../core/access/secrets.ts'
import { User } from '../users/entities.ts'
import { storeLastActive } from './activity-rows.ts'
import { clearSessionCookie, readSessionCookie, setSessionCookie } from './cookie.ts'
import { OneTimeToken, Session } from './entities.ts'
import type { SignIn } from './sign-in/sign-in.ts'
import { deleteSession, deleteSessions, findLiveSession, lockUser, storeSignIn, renewSession } from './rows.ts'

/** Time after a sign-in in which the present password is not asked again. */
const FRESH_MS = 5 * 60_000
/** Minimum interval between two extensions of a session. */
const RENEW_AFTER_MS = 5 * 60_000
const USER_AGENT_MAX = 500
const ID_TOKEN_PURPOSE = 'oidc-id-token'

/** Optional facts about a sign-in, besides its account. */
export interface SignInExtra {
  /** The OpenID provider's proof, which it expects when the session ends there too. */
  idToken?: string
  /** The method of the sign-in, for the audit log. */
  by?: string
}

/** The response to a sign-out from a session that an OpenID provider opened. */
export interface SignOutView { oidc_logout_url: string | null }

/** Browser sessions: rows that are found by the hash of their cookie. */
export function createSessions (app: FastifyInstance, config: Config, callerCache: CallerCache, signIn: SignIn) {
  const { session_max_age_seconds: idleSeconds, session_absolute_max_age_seconds: absoluteSeconds } = config.auth
  const renewAfterMs = Math.min(RENEW_AFTER_MS, idleSeconds * 100)
  /** Callers whose session is extended with the response. */
  const due = new WeakSet<Caller>()
  let signOutAtProvider: ((idToken: string) => Promise<SignOutView | null>) | null = null

  async function findCaller (tokenHash: string): Promise<CachedCaller | null> {
    const session = await findLiveSession(app.db, tokenHash, absoluteSeconds)
    if (session === null) return null
    const user = { ...session, id: session.user_id }
    await storeLastActive(app.db, user)
    const caller = await app.permissions.toCaller(user, {
      credential: 'session', session_id: session.id, device_id: session.device_id
    })
    if (Date.now() - session.seen_at > renewAfterMs) due.add(caller)
    return { caller, expires_at: session.expires_at }
  }

  async function authenticate ({ cookies }: RequestCredentials): Promise<Caller | null> {
    const token = readSessionCookie(config, cookies)
    if (token === undefined) return null
    const tokenHash = sha256(token)
    return await callerCache.find(tokenHash, () => findCaller(tokenHash))
  }

  const scheme: AuthScheme = { name: 'session', order: 10, opensSockets: true, authenticate }

  /** @throws ApiError BAD_CREDENTIALS if the account changed since its user proved their identity. */
  async function lockAccount (tx: Db, { id, password_hash: hash }: User): Promise<void> {
    const user = await tx.em.findOne(User, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE, disableIdentityMap: true })
    if (user === null || !user.enabled || user.password_hash !== hash) throw new ApiError('BAD_CREDENTIALS')
  }

  async function open (user: User, request: FastifyRequest, idToken: string | undefined) {
    const token = randomBytes(32).toString('base64url')
    const ids = await inTransaction(app.db, async (tx) => {
      // The password may have changed while it was checked. No session may outlive the former password.
      await lockAccount(tx, user)
      const device = await app.devices.findBrowser(tx, user.id, request)
      const session = await tx.em.insert(Session, {
        token_hash: sha256(token),
        user: user.id,
        device: device?.id ?? null,
        user_agent: (request.headers['user-agent'] ?? '').slice(0, USER_AGENT_MAX),
        address: request.ip,
        id_token: idToken === undefined ? null : app.secrets.seal(ID_TOKEN_PURPOSE, idToken),
        expires_at: new Date(Date.now() + Math.min(idleSeconds, absoluteSeconds) * 1_000)
      })
      await storeSignIn(tx, user.id)
      return { session_id: session, device_id: device?.id ?? null }
    })
    return { token, caller: await app.permissions.toCaller(user, { credential: 'session', ...ids }) }
  }

  /** Ends a session and disconnects its sockets. @returns the OpenID provider's proof, if one opened the session */
  async function end (id: number): Promise<string | null> {
    const sealed = await deleteSession(app.db, id)
    callerCache.clear()
    app.sockets.end({ kind: 'session', id })
    return sealed === null ? null : app.secrets.open(ID_TOKEN_PURPOSE, sealed)
  }

  /** Ends a user's sessions, all or all but one, with their sockets, and the OAuth2 sign-ins with all their tokens. */
  async function endAll (userId: number, remainingId: number | null = null): Promise<void> {
    const ended = await inTransaction(app.db, async (tx) => {
      // Wait for a refresh that is running, because its new token would not be found yet.
      await lockUser(tx, userId)
      await tx.em.nativeDelete(OneTimeToken, { user: userId, purpose: 'refresh' })
      return await deleteSessions(tx, userId, remainingId)
    })
    for (const { id } of ended) app.sockets.end({ kind: 'session', id })
    if (remainingId === null) app.sockets.end({ kind: 'user', id: userId })
  }

  /** From here on the response belongs to no caller, and its browser deletes the session cookie. */
  function clearSession (request: FastifyRequest, reply: FastifyReply): void {
    request.caller = null
    clearSessionCookie(config, reply)
  }

  /** This request itself carried Basic credentials. */
  async function hasJustSignedIn ({ credential, session_id: id }: Caller): Promise<boolean> {
    if (credential === 'basic') return true
    if (id === null) return false
    return await app.db.em.count(Session, { id, created_at: { $gt: new Date(Date.now() - FRESH_MS) } }) > 0
  }

  return {
    scheme,
    endAll,

    /**
     * Requires the password before a change with which the finder of a signed-in browser could take over the account.
     *
     * @param password the present one; not needed if the sign-in is a few minutes old
     * @throws ApiError FORBIDDEN, or TOO_MANY_REQUESTS after wrong passwords
     */
    async requireOwner (caller: Caller, password: string | null | undefined, address: string): Promise<void> {
      if (password === undefined || password === null) {
        if (await hasJustSignedIn(caller)) return
        throw forbidden('Send your current password as current_password, or sign in again and repeat the request within five minutes')
      }
      const { status } = await signIn.check({ username: caller.username, password, address })
      if (status !== 'right') throw forbidden('The current_password is not your current password; correct it')
    },

    /**
     * Opens a session for an authenticated user, replaces the browser's former one, and sets its cookie.
     *
     * @throws ApiError BAD_CREDENTIALS if the account was disabled or its password changed meanwhile
     */
    async signIn (request: FastifyRequest, reply: FastifyReply, user: User, extra: SignInExtra = {}): Promise<void> {
      const former = request.caller?.session_id ?? null
      const { token, caller } = await open(user, request, extra.idToken)
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
      clearSession(request, reply)
      return idToken === null || signOutAtProvider === null ? null : await signOutAtProvider(idToken)
    },

    /** Sets the function that answers a sign-out from a session with an OpenID provider's proof. */
    onSignOut (answer: (idToken: string) => Promise<SignOutView | null>): void {
      signOutAtProvider = answer
    },

    list: async (db: Db, { id }: Caller): Promise<Session[]> => await db.em.find(Session,
      { user: id, expires_at: { $gt: new Date() } }, { populate: ['device'], orderBy: { seen_at: 'desc', id: 'desc' } }),

    /** Ends one of the caller's own sessions. @throws ApiError NOT_FOUND if the session is not the caller's. */
    async revoke (request: FastifyRequest, reply: FastifyReply, id: number): Promise<void> {
      const caller = callerOf(request)
      const isOwn = await request.db.em.count(Session, { id, user: caller.id }) > 0
      if (!isOwn) throw notFound(`Session with ID '${id}' not found`)
      await end(id)
      await app.audit.record({ event: 'session.revoked', user: caller, address: request.ip, details: { session_id: id } })
      if (id === caller.session_id) clearSession(request, reply)
    },

    /** Ends all of the caller's sessions, or all but the current one, and its OAuth2 sign-ins. */
    async revokeAll (request: FastifyRequest, reply: FastifyReply, withCurrent: boolean): Promise<void> {
      const caller = callerOf(request)
      const remainingId = withCurrent ? null : caller.session_id
      await endAll(caller.id, remainingId)
      await app.audit.record({
        event: 'session.revoked', user: caller, address: request.ip, details: { all: true, kept_current: remainingId !== null }
      })
      if (withCurrent && caller.session_id !== null) clearSession(request, reply)
    },

    /**
     * Extends the session of a request, and its cookie. A session that ended meanwhile stays ended, because rows are
     * only
     * updated and never inserted.
     */
    async renew (request: FastifyRequest, reply: FastifyReply): Promise<void> {
      const { caller } = request
      if (caller === null || !due.delete(caller)) return
      const token = readSessionCookie(config, request.cookies)
      if (token === undefined) return
      const isRenewed = await renewSession(app.db, caller.session_id, idleSeconds, absoluteSeconds)
      if (isRenewed) setSessionCookie(config, request, reply, token)
    },

    /** Deletes expired sessions and one-time tokens. */
    async dropExpired (): Promise<void> {
      const db = app.db
      const isExpired = { expires_at: { $lt: new Date() } }
      await db.em.nativeDelete(Session, isExpired)
      await db.em.nativeDelete(OneTimeToken, isExpired)
    }
  }
}
