import type { FastifyInstance } from 'fastify'
import type { AuthScheme, Caller, RequestCredentials } from '../../../core/access/auth.ts'
import { createLruCache } from '../../../core/lru-cache.ts'
import { toLoginName } from '../login-name.ts'
import { type EnabledUser, findEnabledUser } from '../rows.ts'
import { storeLastActive } from '../sessions/activity-rows.ts'
import { signInKeys } from '../throttle/limits.ts'
import type { SignIn, Verdict } from './sign-in.ts'

/** Time for which a checked password is cached, because argon2 at every call is too slow for scripts. */
const TRUST_MS = 60_000
const TRUSTED_MAX = 500

/** Reads username and password from a Basic header; null for other headers. */
export function readBasic (authorization: string | undefined): { username: string, password: string } | null {
  const encoded = /^basic +([A-Za-z0-9+/=_-]+)$/i.exec(authorization ?? '')?.[1]
  if (encoded === undefined) return null
  const [username, ...rest] = Buffer.from(encoded, 'base64').toString('utf8').split(':')
  return username === undefined || rest.length === 0 ? null : { username, password: rest.join(':') }
}

interface Trust {
  /** A keyed hash of the password. */
  mark: string
  userId: number
  /** The stored hash at that time; it changes with the password. */
  hash: string
  until: number
}

/** Authenticates by username and password at every call, as scripts and simple apps do. */
export function createBasicScheme (app: FastifyInstance, signIn: SignIn): AuthScheme {
  /** Keys combine address and name. */
  const trusted = createLruCache<string, Trust>({ max: TRUSTED_MAX })
  const running = new Map<string, Promise<Verdict>>()

  function cacheTrusted (pair: string, mark: string, user: EnabledUser): void {
    trusted.set(pair, { mark, userId: user.id, hash: user.password_hash ?? '', until: performance.now() + TRUST_MS })
  }

  async function findTrusted (pair: string, mark: string, username: string): Promise<EnabledUser | null> {
    const cached = trusted.get(pair)
    if (cached === undefined) return null
    if (cached.until < performance.now() || cached.mark !== mark) {
      // Delete the entry at a wrong password. Otherwise it would confirm right guesses without counting wrong ones.
      trusted.delete(pair)
      return null
    }
    const user = await findEnabledUser(app.db, cached.userId)
    if (user === null || user.password_hash !== cached.hash) return null
    return user.username === toLoginName(username) ? user : null
  }

  /**
   * Concurrent calls with the same credentials share one check. So a wrong password of an app that opens with twenty
   * calls counts once.
   */
  function checkOnce (key: string, check: () => Promise<Verdict>): Promise<Verdict> {
    const former = running.get(key)
    if (former !== undefined) return former
    const verdict = check().finally(() => { running.delete(key) })
    running.set(key, verdict)
    return verdict
  }

  async function authenticate ({ authorization, address }: RequestCredentials): Promise<Caller | null> {
    const basic = readBasic(authorization)
    if (basic === null) return null
    const { pair } = signInKeys(basic.username, address)
    const mark = app.secrets.sign('basic', basic.password)
    let user = await findTrusted(pair, mark, basic.username)
    if (user === null) {
      const verdict = await checkOnce(`${pair} ${mark}`, () => signIn.check({ ...basic, address }))
      if (verdict.status !== 'right') return null
      const { id, username, role, password_hash: hash, last_active: lastActive } = verdict.user
      user = { id, username, role, password_hash: hash ?? null, last_active: lastActive?.getTime() ?? null }
      cacheTrusted(pair, mark, user)
    }
    await storeLastActive(app.db, user)
    return await app.permissions.toCaller(user, { credential: 'basic' })
  }

  return { name: 'basic', order: 20, opensSockets: false, authenticate }
}
