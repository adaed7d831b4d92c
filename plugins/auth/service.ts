import { randomBytes } from 'node:crypto'
import type { EntityManager } from '@mikro-orm/postgresql'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { AuthScheme, Caller, Presented } from '../../core/auth.ts'
import type { Config } from '../../core/config.ts'
import { ApiError } from '../../core/errors.ts'
import { sha256 } from '../../core/secrets.ts'
import { User } from '../users/entities.ts'
import { verifyPassword } from '../users/passwords.ts'
import { Session } from './entities.ts'

export const SESSION_COOKIE = 'svc_session'
/** A session's end is moved on at most this often. */
const RENEW_AFTER_MS = 5 * 60_000
/** A checked Basic password is believed this long, so that scripts do not pay for argon2 at every call. */
const BASIC_TRUST_MS = 60_000
const BASIC_REMEMBERED_MAX = 500

/** Username and password of a Basic header, or null when it is none. */
export function readBasic (authorization: string | undefined): { username: string, password: string } | null {
  const encoded = /^basic +([A-Za-z0-9+/=_-]+)$/i.exec(authorization ?? '')?.[1]
  if (encoded === undefined) return null
  const [username, ...rest] = Buffer.from(encoded, 'base64').toString('utf8').split(':')
  return username === undefined || rest.length === 0 ? null : { username, password: rest.join(':') }
}

export function createAuth (app: FastifyInstance, config: Config) {
  const trusted = new Map<string, { hash: string, until: number }>()
  const maxAgeMs = config.auth.session_max_age_seconds * 1_000
  const read = () => app.orm.em.fork()

  /** The account, or null. Takes as long for an unknown one. */
  async function checkPassword (username: string, password: string, address: string): Promise<User | null> {
    const user = await read().findOne(User, { username: username.toLowerCase() })
    const isRight = await verifyPassword(user?.password_hash ?? null, password)
    if (user !== null && isRight && user.enabled) return user
    app.log.warn({ username: username.slice(0, 255), address }, 'sign-in failed')
    return null
  }

  function remember (key: string, hash: string): void {
    const oldest = trusted.keys().next()
    if (trusted.size >= BASIC_REMEMBERED_MAX && oldest.done !== true) trusted.delete(oldest.value)
    trusted.set(key, { hash, until: Date.now() + BASIC_TRUST_MS })
  }

  async function authenticateBasic ({ authorization, address }: Presented): Promise<Caller | null> {
    const basic = readBasic(authorization)
    if (basic === null) return null
    const key = app.secrets.sign('basic', `${basic.username.toLowerCase()}\n${basic.password}`)
    const known = trusted.get(key)
    if (known !== undefined && known.until > Date.now()) {
      const user = await read().findOne(User, { username: basic.username.toLowerCase() })
      // The stored hash changes with the password, and a disabled account is out at once.
      if (user !== null && user.enabled && user.password_hash === known.hash) return await app.permissions.toCaller(user, { credential: 'basic' })
    }
    const user = await checkPassword(basic.username, basic.password, address)
    if (user === null) return null
    remember(key, user.password_hash ?? '')
    return await app.permissions.toCaller(user, { credential: 'basic' })
  }

  async function authenticateSession ({ cookies }: Presented): Promise<Caller | null> {
    const token = cookies[SESSION_COOKIE]
    if (token === undefined || token === '') return null
    const session = await read().findOne(Session, { token_hash: sha256(token), expires_at: { $gt: new Date() } },
      { populate: ['user'] })
    if (session === null || !session.user.enabled) return null
    return await app.permissions.toCaller(session.user, {
      credential: 'session', session_id: session.id, device_id: session.device?.id ?? null
    })
  }

  const schemes: AuthScheme[] = [
    { name: 'session', order: 10, opensSockets: true, authenticate: authenticateSession },
    { name: 'basic', order: 20, opensSockets: false, authenticate: authenticateBasic }
  ]

  return {
    schemes,

    /** @throws ApiError BAD_CREDENTIALS, the same for an unknown name, a wrong password and a disabled account. */
    async signIn (em: EntityManager, username: string, password: string, request: FastifyRequest):
    Promise<{ token: string, caller: Caller }> {
      const user = await checkPassword(username, password, request.ip)
      if (user === null) throw new ApiError('BAD_CREDENTIALS')
      const token = randomBytes(32).toString('base64url')
      const now = new Date()
      const session = em.create(Session, {
        token_hash: sha256(token),
        user: em.getReference(User, user.id),
        user_agent: String(request.headers['user-agent'] ?? '').slice(0, 500),
        address: request.ip,
        expires_at: new Date(now.getTime() + maxAgeMs)
      })
      await em.flush()
      await em.nativeUpdate(User, { id: user.id }, { last_login: now, last_active: now })
      return { token, caller: await app.permissions.toCaller(user, { credential: 'session', session_id: session.id }) }
    },

    async signOut (em: EntityManager, sessionId: number): Promise<void> {
      await em.nativeDelete(Session, { id: sessionId })
    },

    /** Moves the session's end on. One that was ended meanwhile stays ended: rows are only updated, never made. */
    async renew (em: EntityManager, sessionId: number): Promise<void> {
      const now = Date.now()
      await em.nativeUpdate(Session, { id: sessionId, seen_at: { $lt: new Date(now - RENEW_AFTER_MS) } },
        { seen_at: new Date(now), expires_at: new Date(now + maxAgeMs) })
    },

    async dropExpired (): Promise<void> {
      await read().nativeDelete(Session, { expires_at: { $lt: new Date() } })
    }
  }
}
