import { randomBytes } from 'node:crypto'
import type { EntityManager } from '@mikro-orm/postgresql'
import type { FastifyInstance } from 'fastify'
import { type AuthScheme, type Caller } from '../../core/auth.ts'
import type { Config } from '../../core/config.ts'
import { badRequest, forbidden, notFound } from '../../core/errors.ts'
import { sha256 } from '../../core/secrets.ts'
import { User } from '../users/entities.ts'
import { ClientToken } from './entities.ts'
import type { CreateToken } from './schemas.ts'

const TOKENS_MAX = 25
const TOKEN_PREFIX = 'svc_'
/** A token's last use is written at most this often. */
const TOUCH_AFTER_MS = 5 * 60_000
const DAY_MS = 86_400_000
const LIFETIME_MS = { '30d': 30 * DAY_MS, '90d': 90 * DAY_MS, '1y': 365 * DAY_MS, never: null } as const

const makeToken = () => TOKEN_PREFIX + randomBytes(32).toString('hex')

export function createTokens (app: FastifyInstance, config: Config) {
  const prefixes = [TOKEN_PREFIX, ...config.auth.token_prefixes]

  async function authenticate ({ authorization }: { authorization: string | undefined }): Promise<Caller | null> {
    const raw = /^bearer +(\S+)$/i.exec(authorization ?? '')?.[1]
    if (raw === undefined || !prefixes.some((prefix) => raw.startsWith(prefix))) return null
    const em = app.orm.em.fork()
    const now = new Date()
    const token = await em.findOne(ClientToken, {
      token_hash: sha256(raw), $or: [{ expires_at: null }, { expires_at: { $gt: now } }]
    }, { populate: ['user'] })
    if (token === null || !token.user.enabled) return null
    if (now.getTime() - (token.last_used_at?.getTime() ?? 0) > TOUCH_AFTER_MS) {
      await em.nativeUpdate(ClientToken, { id: token.id }, { last_used_at: now })
      await em.nativeUpdate(User, { id: token.user.id }, { last_active: now })
    }
    return await app.permissions.toCaller(token.user, {
      credential: 'token', token_id: token.id, device_id: token.device?.id ?? null, scopes: token.scopes
    })
  }

  const scheme: AuthScheme = { name: 'client-token', order: 30, opensSockets: false, authenticate }

  async function own (em: EntityManager, caller: Caller, id: number): Promise<ClientToken> {
    const token = await em.findOne(ClientToken, { id, user: caller.id })
    if (token === null) throw notFound(`Client token with ID '${id}' not found`)
    return token
  }

  return {
    scheme,

    list: (em: EntityManager, caller: Caller) =>
      em.find(ClientToken, { user: caller.id }, { orderBy: { created_at: 'desc', id: 'desc' } }),

    /** @returns the row and the token's text, which is kept nowhere. */
    async create (em: EntityManager, caller: Caller, input: CreateToken): Promise<{ token: ClientToken, raw: string }> {
      const lacking = input.scopes.filter((scope) => !caller.scopes.has(scope))
      if (lacking.length > 0) throw forbidden(`You do not hold the scopes: ${lacking.join(', ')}`)
      if (await em.count(ClientToken, { user: caller.id }) >= TOKENS_MAX) {
        throw badRequest(`There are ${TOKENS_MAX} tokens already; delete one first`)
      }
      const raw = makeToken()
      const lifetime = LIFETIME_MS[input.expires_in ?? 'never']
      const token = em.create(ClientToken, {
        user: em.getReference(User, caller.id),
        name: input.name,
        token_hash: sha256(raw),
        scopes: [...new Set(input.scopes)],
        expires_at: lifetime === null ? null : new Date(Date.now() + lifetime)
      })
      await em.flush()
      return { token, raw }
    },

    /** A new secret on the same row; the old one stops at once. */
    async regenerate (em: EntityManager, caller: Caller, id: number): Promise<{ token: ClientToken, raw: string }> {
      const token = await own(em, caller, id)
      const raw = makeToken()
      token.token_hash = sha256(raw)
      token.last_used_at = null
      await em.flush()
      return { token, raw }
    },

    async delete (em: EntityManager, caller: Caller, id: number): Promise<void> {
      em.remove(await own(em, caller, id))
      await em.flush()
    }
  }
}
