import { LockMode } from '@mikro-orm/core'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../../../core/config/config.ts'
import { shareableBaseUrl } from '../../../core/config/base-url.ts'
import type { Db } from '../../../core/database/db.ts'
import { inTransaction } from '../../../core/database/transaction.ts'
import { badRequest, notFound } from '../../../core/errors.ts'
import { sha256 } from '../../../core/access/secrets.ts'
import { User } from '../../users/entities.ts'
import { checkPassword, hashPassword } from '../password-hash.ts'
import type { Jwts } from '../jwt.ts'
import { resetLimits, resetRequestLimits } from '../throttle/limits.ts'
import { replacePassword } from '../new-password.ts'
import { deleteResetLink } from '../rows.ts'
import type { ResetPassword } from '../schemas.ts'
import { createThrottle } from '../throttle-rows.ts'
import { defineLinkRetries, sendResetLink } from './reset-link.ts'

const badLink = () => badRequest('The reset link is invalid, used or older than 10 minutes; ask for a new one')

/** Uses up a link. @returns the id of its user */
async function consume (tx: Db, jti: string, username: string): Promise<number> {
  // Two links of one user are used in sequence, because each deletes the other.
  const user = await tx.em.findOne(User, { username }, { lockMode: LockMode.PESSIMISTIC_WRITE })
  if (user === null) throw notFound(`User '${username}' no longer exists`)
  const spent = await deleteResetLink(tx, sha256(jti), user.id)
  if (spent === undefined) throw badLink()
  // The link proves access to the address that it was mailed to. The account's address may have changed since.
  if (spent.email !== null && spent.email === user.email) {
    await tx.em.nativeUpdate(User, { id: user.id }, { email_confirmed: true })
  }
  return user.id
}

/** Resets of forgotten passwords by a link for one use. */
export function createResets (app: FastifyInstance, config: Config, jwts: Jwts) {
  const throttle = createThrottle(app.db)
  const links = { jwts, baseUrl: shareableBaseUrl(config) }
  defineLinkRetries(app, links)
  /** Links whose mails are being sent. */
  const sending = new Set<Promise<void>>()

  return {
    /**
     * Sends a link if the user exists. The caller does not wait for it, so unknown names take as long as known ones.
     *
     * @throws ApiError TOO_MANY_REQUESTS
     */
    async request (username: string, address: string): Promise<void> {
      await throttle.countAttempt(resetRequestLimits(username, address))
      const work = sendResetLink(app, links, username, address)
        .catch((err: unknown) => { app.log.error({ err }, 'the reset link could not be created') })
        .finally(() => { sending.delete(work) })
      sending.add(work)
    },

    /**
     * Sets a new password and revokes all credentials of the former one.
     *
     * @throws ApiError BAD_REQUEST, NOT_FOUND or TOO_MANY_REQUESTS
     */
    async reset (db: Db, given: ResetPassword, address: string): Promise<void> {
      const { token, new_password: password, ...remaining } = given
      const limits = resetLimits(address)
      await throttle.countAttempt(limits)
      const claims = await jwts.read('reset', token)
      if (claims === null || claims.jti === undefined) throw badLink()
      const { jti, sub: username } = claims
      await checkPassword(password)
      const hash = await hashPassword(password)
      const userId = await inTransaction(db, async (tx) => {
        const id = await consume(tx, jti, username)
        await replacePassword(tx, id, hash, remaining)
        return id
      })
      await throttle.clear(limits.map(({ key }) => key))
      await app.audit.record({ event: 'password.reset', user: { id: userId, username }, address })
    },

    /** Waits until every requested link is sent. */
    flush: async (): Promise<void> => { await Promise.all(sending) }
  }
}
