import type { FastifyInstance } from 'fastify'
import type { AuthScheme, Caller, Presented } from '../../core/access/auth.ts'
import type { Config } from '../../core/config/config.ts'
import { tokenPrefixes } from '../../core/access/names.ts'
import { sha256 } from '../../core/access/secrets.ts'
import { ClientToken } from './entities.ts'
import { noteTokenUse } from './rows.ts'

/** A token's last use is written at most this often. */
const TOUCH_AFTER_MS = 5 * 60_000

/** Who calls with `Authorization: Bearer svc_…`. */
export function createTokenScheme (app: FastifyInstance, config: Config): AuthScheme {
  const prefixes = tokenPrefixes(config)

  async function touch (token: ClientToken): Promise<void> {
    if (Date.now() - (token.last_used_at?.getTime() ?? 0) <= TOUCH_AFTER_MS) return
    await noteTokenUse(app.pg, token.id, token.user.id)
    if (token.device) await app.devices.touch(app.orm.em.fork(), token.device.id)
  }

  async function authenticate ({ authorization }: Pick<Presented, 'authorization'>): Promise<Caller | null> {
    const raw = /^bearer +(\S+)$/i.exec(authorization ?? '')?.[1]
    if (raw === undefined || !prefixes.some((prefix) => raw.startsWith(prefix))) return null
    const token = await app.orm.em.fork().findOne(ClientToken, {
      token_hash: sha256(raw), $or: [{ expires_at: null }, { expires_at: { $gt: new Date() } }]
    }, { populate: ['user'] })
    if (token === null || !token.user.enabled) return null
    await touch(token)
    return await app.permissions.toCaller(token.user, {
      credential: 'token', token_id: token.id, device_id: token.device?.id ?? null, scopes: token.scopes
    })
  }

  return { name: 'client-token', order: 30, opensSockets: false, authenticate }
}
