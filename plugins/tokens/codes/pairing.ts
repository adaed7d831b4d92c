import type { FastifyInstance } from 'fastify'
import type { Context } from '../../../core/access/context.ts'
import { databaseDate, databaseNow } from '../../../core/database/clock.ts'
import type { Db } from '../../../core/database/db.ts'
import { badRequest, forbidden, notFound } from '../../../core/errors.ts'
import { inTransaction } from '../../../core/database/transaction.ts'
import { createThrottle } from '../../auth/throttle-rows.ts'
import { createCode, readCode } from './codes.ts'
import { ClientToken, PairingCode } from '../entities.ts'
import { quotas } from './quotas.ts'
import { deletePairing, findPairing, lockToken } from '../rows.ts'
import type { RawToken, Tokens } from '../service.ts'

const CODE_SECONDS = 60

interface PairingServices { app: FastifyInstance, tokens: Tokens }

const hashOf = (app: FastifyInstance, code: string) => app.secrets.sign('pairing-code', readCode(code))

// Apps distinguish these two errors by their messages.
const invalidCode = () => notFound('Invalid or expired pairing code')

const tokenNotFound = () => notFound('Token no longer exists')

/**
 * Returns the token of a code with a new secret, and uses up the code, so that only one of several callers succeeds.
 * Returns null if the token was deleted.
 */
async function redeem ({ app, tokens }: PairingServices, tx: Db, code: string): Promise<RawToken | null> {
  const hash = hashOf(app, code)
  const named = await findPairing(tx, hash)
  if (named === undefined) throw invalidCode()
  if (named.token_id !== null) await lockToken(tx, named.token_id)
  if (!await deletePairing(tx, hash)) throw invalidCode()
  const token = await tx.em.findOne(ClientToken, { id: named.token_id ?? 0 }, { populate: ['device', 'user'] })
  if (token === null) return null
  if (!token.user.enabled) throw forbidden('The owner of this token is disabled')
  return await tokens.renew(tx, token)
}

async function replaceCode (
  { app, tokens }: PairingServices, context: Context, id: number, code: string
): Promise<void> {
  const { db: tx } = context
  const { name, expires_at: expiry } = await tokens.lockOwn(context, id)
  if (expiry && expiry < databaseDate()) throw badRequest(`Client token '${name}' has expired; create a new one`)
  await tx.em.nativeDelete(PairingCode, { token: id })
  await tx.em.insert(PairingCode, {
    code_hash: hashOf(app, code), token: id, expires_at: new Date(databaseNow() + CODE_SECONDS * 1_000)
  })
}

/** Hands a token to a device without a keyboard: the token's owner shows a short code, and the device sends it. */
export function createPairing (app: FastifyInstance, tokens: Tokens) {
  const services = { app, tokens }
  const throttle = createThrottle(app.db)

  return {
    /** Creates a code for one of the caller's tokens, and replaces earlier ones. */
    async start ({ db, caller }: Context, id: number): Promise<{ code: string, expires_in: number }> {
      const code = createCode()
      await inTransaction(db, (tx) => replaceCode(services, { db: tx, caller }, id, code))
      return { code, expires_in: CODE_SECONDS }
    },

    /** @throws ApiError NOT_FOUND unless the code is still unused. */
    async checkWaiting (db: Db, code: string, address: string): Promise<void> {
      await throttle.countUse(quotas.pairingStatus(address))
      const live = { code_hash: hashOf(app, code), expires_at: { $gt: databaseDate() } }
      const waiting = await db.em.count(PairingCode, live)
      if (waiting === 0) throw invalidCode()
    },

    /** @throws ApiError NOT_FOUND for an invalid code, FORBIDDEN if the token's owner is disabled. */
    async exchange (db: Db, code: string, address: string): Promise<RawToken> {
      await throttle.countUse(quotas.exchange(address))
      const renewed = await inTransaction(db, (tx) => redeem(services, tx, code))
      if (renewed === null) throw tokenNotFound()
      const { token } = renewed
      await app.sockets.end({ kind: 'token', id: token.id })
      const details = { token_id: token.id, token_name: token.name }
      await app.audit.record({ event: 'token.paired', user: token.user, address, details })
      return renewed
    },

    async dropExpired (): Promise<void> {
      await app.db.em.nativeDelete(PairingCode, { expires_at: { $lt: databaseDate() } })
    }
  }
}
