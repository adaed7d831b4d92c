import type { EntityManager } from '@mikro-orm/postgresql'
import type { FastifyInstance } from 'fastify'
import type { Caller } from '../../core/auth.ts'
import { badRequest, forbidden, notFound } from '../../core/errors.ts'
import { createThrottle } from '../auth/throttle.ts'
import { makeCode, readCode } from './codes.ts'
import { ClientToken, PairingCode } from './entities.ts'
import { quotas } from './quotas.ts'
import type { FreshToken, Tokens } from './service.ts'

const CODE_SECONDS = 60

/** Hands a token to a device that has no keyboard to type it: its owner shows a short code, the device sends it. */
export function createPairing (app: FastifyInstance, tokens: Tokens) {
  const throttle = createThrottle(app.pg)
  const hashOf = (code: string) => app.secrets.sign('pairing-code', readCode(code))
  const unknown = (code: string) =>
    notFound(`Pairing code '${code}' is wrong, used or has run out; ask for a new one`)

  /** The token that a code stands for, under a new secret; the code is used up by it, whoever else tries. */
  async function redeem (em: EntityManager, code: string): Promise<FreshToken | null> {
    const [used] = await em.execute<{ token_id: number }[]>(
      'delete from pairing_codes where code_hash = ? and expires_at > now() returning token_id', [hashOf(code)])
    const token = used === undefined
      ? null
      : await em.findOne(ClientToken, { id: used.token_id }, { populate: ['device', 'user'] })
    if (token === null) return null
    if (!token.user.enabled) throw forbidden('The owner of this token is disabled')
    return await tokens.renew(em, token)
  }

  return {
    /** A code for one of the caller's tokens, in place of earlier ones. */
    async start (em: EntityManager, caller: Caller, id: number): Promise<{ code: string, expires_in: number }> {
      const { name, expires_at: expiry } = await tokens.own(em, caller, id)
      if (expiry && expiry < new Date()) throw badRequest(`Client token '${name}' has run out; create a new one`)
      const code = makeCode()
      await em.transactional(async (tx) => {
        await tx.nativeDelete(PairingCode, { token: id })
        await tx.insert(PairingCode, {
          code_hash: hashOf(code), token: id, expires_at: new Date(Date.now() + CODE_SECONDS * 1_000)
        })
      })
      return { code, expires_in: CODE_SECONDS }
    },

    /** @throws ApiError NOT_FOUND unless the code is still waiting. */
    async checkWaiting (em: EntityManager, code: string, address: string): Promise<void> {
      await throttle.spend(quotas.pairingStatus(address))
      const waiting = await em.count(PairingCode, { code_hash: hashOf(code), expires_at: { $gt: new Date() } })
      if (waiting === 0) throw unknown(code)
    },

    /** @throws ApiError NOT_FOUND for a code that is not good, FORBIDDEN when the token's owner is disabled. */
    async exchange (em: EntityManager, code: string, address: string): Promise<FreshToken> {
      await throttle.spend(quotas.exchange(address))
      const fresh = await em.transactional((tx) => redeem(tx, code))
      if (fresh === null) throw unknown(code)
      const { token } = fresh
      app.sockets.end({ kind: 'token', id: token.id })
      const details = { token_id: token.id, token_name: token.name }
      await app.audit.record({ event: 'token.paired', user: token.user, address, details })
      return fresh
    },

    async dropExpired (): Promise<void> {
      await app.orm.em.fork().nativeDelete(PairingCode, { expires_at: { $lt: new Date() } })
    }
  }
}
