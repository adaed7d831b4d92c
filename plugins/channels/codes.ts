import { randomInt } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { ApiError, badRequest } from '../../core/errors.ts'
import { isEqualSecret } from '../../core/secrets.ts'
import { type Limit, createThrottle } from '../auth/throttle.ts'
import type { Calls } from './calls.ts'
import type { Subject } from './http.ts'

const VALID_MS = 30 * 60_000
const TRIES_MAX = 5
const WAIT_SECONDS = 60

/** A code that was sent: the columns of its channel. */
export interface SentCode { code_hash: string, code_expires_at: Date, code_tries: number }

/** One, and then another a minute later. */
const oncePerMinute = (key: string): Limit =>
  ({ key, free: 1, forgetSeconds: WAIT_SECONDS, waitSeconds: WAIT_SECONDS, waitMaxSeconds: WAIT_SECONDS })

/** The try is counted before its code is compared: of many at once none is free. */
const TRY = `update notification_channels set code_tries = code_tries + 1,
    code_hash = case when code_tries >= ${TRIES_MAX} then null else code_hash end
  where id = $1 and not confirmed and code_hash is not null and code_expires_at > now()
  returning code_hash`
const CONFIRM = `update notification_channels set confirmed = true, code_hash = null, code_expires_at = null, code_tries = 0
  where id = $1 and code_hash = $2`

/** Codes that prove that somebody reads what arrives at a destination. */
export function createCodes (app: FastifyInstance, calls: Calls) {
  const throttle = createThrottle(app.pg)
  const hash = (userId: number, target: string, code: string) =>
    app.secrets.sign('channel-code', JSON.stringify([userId, target, code]))

  /** The destination is hashed: the table is no list of addresses. */
  const limitsOf = (userId: number, target: string) => [
    oncePerMinute(`channel-code-user:${userId}`),
    oncePerMinute(`channel-code-target:${app.secrets.sign('channel-target', target.toLowerCase())}`)
  ]

  return {
    /** @throws ApiError TOO_MANY_REQUESTS, BAD_REQUEST for settings that are wrong, CODE_NOT_SENT. */
    async send (userId: number, subject: Subject, target: string): Promise<SentCode> {
      const limits = limitsOf(userId, target)
      await throttle.take(limits)
      const code = String(randomInt(1_000_000)).padStart(6, '0')
      try {
        const outcome = await calls.confirm(subject, code)
        if (!outcome.ok) {
          const { message, is_invalid: isInvalid } = outcome.failure
          throw isInvalid ? badRequest(message) : new ApiError('CODE_NOT_SENT', `The code could not be sent: ${message}`)
        }
      } catch (err) {
        // None went out, so none has to be waited for.
        await throttle.forget(limits.map(({ key }) => key))
        throw err
      }
      return { code_hash: hash(userId, target, code), code_expires_at: new Date(Date.now() + VALID_MS), code_tries: 0 }
    },

    /** @throws ApiError BAD_REQUEST for a code that is wrong, has run out or was tried too often. */
    async confirm (channel: { id: number, userId: number, target: string }, code: string): Promise<void> {
      const { rows: [row] } = await app.pg.query<{ code_hash: string | null }>(TRY, [channel.id])
      const expected = row?.code_hash ?? null
      if (expected === null) throw badRequest('The code has run out or was tried too often; ask for a new one')
      const given = hash(channel.userId, channel.target, code.trim())
      if (!isEqualSecret(given, expected)) throw badRequest('The code is wrong; compare it with the latest one that arrived')
      const { rowCount } = await app.pg.query(CONFIRM, [channel.id, expected])
      if (rowCount === 0) throw badRequest('The code was replaced a moment ago; enter the new one')
    }
  }
}
export type Codes = ReturnType<typeof createCodes>
