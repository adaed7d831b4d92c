import { randomBytes, randomUUID } from 'node:crypto'
import { LockMode } from '@mikro-orm/core'
import type { FastifyInstance } from 'fastify'
import type { AuthScheme, Caller, RequestCredentials } from '../../../core/access/auth.ts'
import type { Config } from '../../../core/config/config.ts'
import { databaseNow } from '../../../core/database/clock.ts'
import type { Db } from '../../../core/database/db.ts'
import { inTransaction } from '../../../core/database/transaction.ts'
import { ApiError, badRequest, forbidden } from '../../../core/errors.ts'
import { isScope } from '../../../core/access/scopes.ts'
import { type Secrets, isEqualSecret, sha256 } from '../../../core/access/secrets.ts'
import { User } from '../../users/entities.ts'
import { storeLastActive } from '../sessions/activity-rows.ts'
import { OneTimeToken } from '../entities.ts'
import type { Claims, Jwts } from '../jwt.ts'
import type { TokenForm, TokenView } from '../schemas.ts'
import type { SignIn } from './sign-in.ts'

const JWT = /^bearer +([\w-]+\.[\w-]+\.[\w-]+)$/i
const badRefresh = () => new ApiError('NOT_AUTHENTICATED', 'The refresh token is invalid, expired or used; sign in again')

/**
 * A sign-in by OAuth2. It has one unused refresh token as long as it lasts. Without that token its access tokens are
 * void.
 */
interface Grant { user: User, scopes: string, sid: string }

/** Returns a mark of the account's password. A new password makes the tokens with the former mark void. */
const markOf = (secrets: Secrets, user: User) =>
  secrets.sign('password-mark', `${user.id}\n${user.password_hash ?? ''}`).slice(0, 22)
const isMarked = (secrets: Secrets, claims: Claims, user: User) =>
  isEqualSecret(claims.pwd ?? '', markOf(secrets, user))

/** @throws ApiError FORBIDDEN for scopes that the account lacks */
async function findScopes (app: FastifyInstance, user: User, wanted: string): Promise<string> {
  const names = [...new Set(wanted.split(/\s+/).filter(Boolean))]
  const granted = (await app.permissions.toCaller(user, { credential: 'oauth' })).scopes
  const missing = names.filter((name) => !isScope(name) || !granted.has(name))
  if (missing.length > 0) throw forbidden(`You do not have the scopes: ${missing.join(', ').slice(0, 300)}; request fewer scopes`)
  return names.join(' ')
}

/** A refresh token that is used twice was stolen at one of the two times, so the whole sign-in ends. */
async function endStolen (
  app: FastifyInstance, db: Db, { sub, sid = '' }: Claims, address: string
): Promise<void> {
  const user = await db.em.findOne(User, { username: sub })
  if (user === null) return
  const ended = await db.em.nativeDelete(OneTimeToken, { user: user.id, purpose: 'refresh', data: { sid } })
  if (ended === 0) return
  await app.audit.record({ event: 'token.revoked', user, address, details: { reason: 'refresh token used twice' } })
}

/** Creates the scheme of access tokens. */
function createScheme (app: FastifyInstance, jwts: Jwts): AuthScheme {
  async function authenticate ({ authorization }: RequestCredentials): Promise<Caller | null> {
    const token = JWT.exec(authorization ?? '')?.[1]
    const claims = token === undefined ? null : await jwts.read('access', token)
    if (claims === null || claims.sid === undefined) return null
    const db = app.db
    const user = await db.em.findOne(User, { username: claims.sub })
    if (user === null || !user.enabled || !isMarked(app.secrets, claims, user)) return null
    const isLive = await db.em.count(OneTimeToken, { user: user.id, purpose: 'refresh', data: { sid: claims.sid } }) > 0
    if (!isLive) return null
    await storeLastActive(app.db, { id: user.id, last_active: user.last_active?.getTime() ?? null })
    return await app.permissions.toCaller(user, { credential: 'oauth', scopes: (claims.scopes ?? '').split(' ') })
  }

  return { name: 'oauth', order: 40, opensSockets: false, authenticate }
}

interface OauthServices { app: FastifyInstance, config: Config, jwts: Jwts, signIn: SignIn }

async function issue ({ app, config, jwts }: OauthServices, db: Db, { user, scopes, sid }: Grant): Promise<TokenView> {
  const {
    oauth_access_token_expire_seconds: accessSeconds, oauth_refresh_token_expire_seconds: refreshSeconds
  } = config.auth
  const jti = randomBytes(32).toString('base64url')
  const claims = { sub: user.username, scopes, sid, pwd: markOf(app.secrets, user) }
  await db.em.insert(OneTimeToken, {
    token_hash: sha256(jti),
    purpose: 'refresh',
    user: user.id,
    data: { sid },
    // The row also represents the access token, so it lasts as long as the longer of the two.
    expires_at: new Date(databaseNow() + Math.max(accessSeconds, refreshSeconds) * 1_000)
  })
  return {
    access_token: await jwts.sign('access', claims, accessSeconds),
    token_type: 'bearer',
    expires: accessSeconds,
    expires_in: accessSeconds,
    refresh_token: await jwts.sign('refresh', { ...claims, jti }, refreshSeconds),
    refresh_expires: refreshSeconds,
    scope: scopes
  }
}

async function grantPassword (services: OauthServices, db: Db, form: TokenForm, address: string): Promise<TokenView> {
  const { app, signIn } = services
  const { username, password, scope = '' } = form
  if (username === undefined || password === undefined) throw badRequest('The grant password needs username and password; send both')
  const verdict = await signIn.check({ username, password, address })
  if (verdict.status === 'disabled') throw forbidden('The account is disabled')
  if (verdict.status === 'wrong') throw new ApiError('BAD_CREDENTIALS')
  const { user } = verdict
  const view = await issue(services, db, { user, scopes: await findScopes(app, user, scope), sid: randomUUID() })
  await app.audit.record({ event: 'sign_in.succeeded', user, address, details: { by: 'oauth' } })
  return view
}

async function grantRefresh (services: OauthServices, db: Db, form: TokenForm, address: string): Promise<TokenView> {
  const { app, jwts } = services
  if (form.refresh_token === undefined) throw badRequest('The grant refresh_token needs refresh_token; send it')
  const claims = await jwts.read('refresh', form.refresh_token)
  const { jti, sid } = claims ?? {}
  if (claims === null || jti === undefined || sid === undefined) throw badRefresh()
  const view = await inTransaction(db, async (tx) => {
    // The lock delays a sign-out everywhere, which would otherwise miss the token that is created here.
    const user = await tx.em.findOne(User, { username: claims.sub }, { lockMode: LockMode.PESSIMISTIC_WRITE })
    if (user === null || !user.enabled || !isMarked(app.secrets, claims, user)) return null
    // If several processes try, only one deletes the row.
    const isUnspent = await tx.em.nativeDelete(OneTimeToken, { token_hash: sha256(jti), purpose: 'refresh' }) === 1
    if (!isUnspent) return 'spent'
    return await issue(services, tx, { user, scopes: claims.scopes ?? '', sid })
  })
  if (view === 'spent') await endStolen(app, db, claims, address)
  if (view === 'spent' || view === null) throw badRefresh()
  return view
}

/** Sign-in for programs: short-lived access tokens, and refresh tokens for one use. */
export function createOauth (services: OauthServices) {
  const { app, jwts } = services

  return {
    scheme: createScheme(app, jwts),

    /** @throws ApiError BAD_REQUEST, BAD_CREDENTIALS, NOT_AUTHENTICATED, FORBIDDEN or TOO_MANY_REQUESTS. */
    async grant (db: Db, form: TokenForm, address: string): Promise<TokenView> {
      const type = form.grant_type ?? 'password'
      if (type === 'password') return await grantPassword(services, db, form, address)
      if (type === 'refresh_token') return await grantRefresh(services, db, form, address)
      throw badRequest(`Grant type '${type.slice(0, 50)}' is not supported; use password or refresh_token`)
    }
  }
}
