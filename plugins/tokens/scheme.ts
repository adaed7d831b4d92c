import type { FastifyInstance } from 'fastify'
import { databaseNow } from '../../core/database/clock.ts'
import type { AuthScheme, Caller, RequestCredentials } from '../../core/access/auth.ts'
import type { CachedCaller, CallerCache } from '../../core/access/caller-cache.ts'
import type { Config } from '../../core/config/config.ts'
import { tokenPrefixes } from '../../core/access/names.ts'
import { sha256 } from '../../core/access/secrets.ts'
import { type LiveToken, findLiveToken, storeTokenUse } from './rows.ts'

/** Minimum interval between two writes of a token's last use. */
const TOUCH_AFTER_MS = 5 * 60_000

/** Authenticates callers with `Authorization: Bearer svc_…`. */
export function createTokenScheme (app: FastifyInstance, config: Config, callerCache: CallerCache): AuthScheme {
  const prefixes = tokenPrefixes(config)

  async function touch (token: LiveToken): Promise<void> {
    const { id, last_used_at: lastUsed, user_id: userId, device_id: deviceId } = token
    if (databaseNow() - (lastUsed ?? 0) <= TOUCH_AFTER_MS) return
    await storeTokenUse(app.db, id, userId)
    if (deviceId !== null) await app.devices.touch(app.db, deviceId)
  }

  async function findCaller (tokenHash: string): Promise<CachedCaller | null> {
    const token = await findLiveToken(app.db, tokenHash)
    if (token === null) return null
    await touch(token)
    const { user_id: id, username, role, password_hash: passwordHash } = token
    const caller = await app.permissions.toCaller({ id, username, role, password_hash: passwordHash }, {
      credential: 'token', token_id: token.id, device_id: token.device_id, scopes: token.scopes
    })
    return { caller, expires_at: token.expires_at }
  }

  async function authenticate ({ authorization }: Pick<RequestCredentials, 'authorization'>): Promise<Caller | null> {
    const raw = /^bearer +(\S+)$/i.exec(authorization ?? '')?.[1]
    if (raw === undefined || !prefixes.some((prefix) => raw.startsWith(prefix))) return null
    const tokenHash = sha256(raw)
    return await callerCache.find(tokenHash, () => findCaller(tokenHash))
  }

  return { name: 'client-token', order: 30, opensSockets: false, authenticate }
}
