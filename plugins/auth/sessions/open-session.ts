import { randomBytes } from 'node:crypto'
import { LockMode } from '@mikro-orm/core'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { sha256 } from '../../../core/access/secrets.ts'
import type { Config } from '../../../core/config/config.ts'
import { databaseNow } from '../../../core/database/clock.ts'
import type { Db } from '../../../core/database/db.ts'
import { inTransaction } from '../../../core/database/transaction.ts'
import { ApiError } from '../../../core/errors.ts'
import { User } from '../../users/entities.ts'
import { Session } from '../entities.ts'
import { ID_TOKEN_PURPOSE } from './end-session.ts'
import { storeSignIn } from '../rows.ts'

const USER_AGENT_MAX = 500

/** An authenticated user, and the OpenID provider's proof if one authenticated them. */
interface SignedIn { user: User, idToken: string | undefined }

/** @throws ApiError BAD_CREDENTIALS if the account changed since its user proved their identity. */
async function lockAccount (tx: Db, { id, password_hash: hash }: User): Promise<void> {
  const user = await tx.em.findOne(User, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE, disableIdentityMap: true })
  if (user === null || !user.enabled || user.password_hash !== hash) throw new ApiError('BAD_CREDENTIALS')
}

/**
 * Stores a new session of an account.
 *
 * @throws ApiError BAD_CREDENTIALS if the account was disabled or its password changed meanwhile
 */
export async function openSession (
  app: FastifyInstance, config: Config, request: FastifyRequest, { user, idToken }: SignedIn
) {
  const { session_max_age_seconds: idleSeconds, session_absolute_max_age_seconds: absoluteSeconds } = config.auth
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
      expires_at: new Date(databaseNow() + Math.min(idleSeconds, absoluteSeconds) * 1_000)
    })
    await storeSignIn(tx, user.id)
    return { session_id: session, device_id: device?.id ?? null }
  })
  return { token, caller: await app.permissions.toCaller(user, { credential: 'session', ...ids }) }
}
