import { randomInt } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { databaseNow } from '../../../core/database/clock.ts'
import type { Caller } from '../../../core/access/auth.ts'
import { badRequest } from '../../../core/errors.ts'
import { isEqualSecret } from '../../../core/access/secrets.ts'
import { codeNotSent } from '../errors.ts'
import { type Limit, createThrottle } from '../../auth/throttle-rows.ts'
import type { Calls } from '../host/calls.ts'
import { TRIES_MAX, confirmChannel, countTry } from './code-rows.ts'
import type { ChannelSubject } from '../host/http.ts'

const VALID_MS = 30 * 60_000
const WAIT_SECONDS = 60

/** A sent code, as columns of its channel. */
export interface SentCode { code_hash: string, code_expires_at: Date, code_tries: number }

interface ConfirmationTarget { id: number, user: Caller, target: string }

/** Limits codes to one per minute. */
const oncePerMinute = (key: string): Limit =>
  ({ key, freeAttempts: 1, forgetSeconds: WAIT_SECONDS, waitSeconds: WAIT_SECONDS, waitMaxSeconds: WAIT_SECONDS })

/**
 * Allows the tries of one code, with the last one that spends it; then the waits are one minute, two, four and so on.
 */
const attemptLimit = (key: string): Limit =>
  ({ key, freeAttempts: TRIES_MAX + 1, forgetSeconds: 86_400, waitSeconds: WAIT_SECONDS, waitMaxSeconds: 6 * 3_600 })

/** Codes that prove that somebody reads the messages at a destination. */
export function createCodes (app: FastifyInstance, calls: Calls) {
  const throttle = createThrottle(app.db)
  const hash = (userId: number, target: string, code: string) =>
    app.secrets.sign('channel-code', JSON.stringify([userId, target, code]))

  /** Returns throttle keys. The destination is hashed, because the table must not be a list of addresses. */
  const keysOf = (prefix: string, userId: number, target: string) => ({
    target: `${prefix}-target:${app.secrets.sign('channel-target', target.toLowerCase())}`,
    user: `${prefix}-user:${userId}`
  })

  return {
    /** Sends a code. @throws ApiError TOO_MANY_REQUESTS, BAD_REQUEST for invalid settings, CODE_NOT_SENT. */
    async send (userId: number, subject: ChannelSubject, target: string): Promise<SentCode> {
      const keys = Object.values(keysOf('channel-code', userId, target))
      await throttle.countAttempt(keys.map(oncePerMinute))
      const code = String(randomInt(1_000_000)).padStart(6, '0')
      const outcome = await calls.confirm(userId, subject, code)
      if (!outcome.ok) {
        const { message, is_invalid: isInvalid, is_refused: isRefused } = outcome.failure
        // No code was sent, so the wait is lifted. An unknown result keeps the wait, because the code may have been
        // sent.
        if (isRefused) await throttle.clear(keys)
        throw isInvalid ? badRequest(message) : codeNotSent(`The code could not be sent: ${message}`)
      }
      const expiresAt = new Date(databaseNow() + VALID_MS)
      return { code_hash: hash(userId, target, code), code_expires_at: expiresAt, code_tries: 0 }
    },

    /**
     * Confirms a channel by its code.
     *
     * @param address network address of the caller
     * @throws ApiError BAD_REQUEST for a code that is wrong, expired or tried too often; TOO_MANY_REQUESTS after many
     *   such tries, of one code or several
     */
    async confirm (channel: ConfirmationTarget, code: string, address: string): Promise<void> {
      const { id, user, target } = channel
      const keys = keysOf('channel-code-tries', user.id, target)
      await throttle.countAttempt(Object.values(keys).map(attemptLimit))
      const expected = await countTry(app.db, id)
      if (expected === null) throw badRequest('The code has expired or was tried too often; request a new one')
      const given = hash(user.id, target, code.trim())
      if (!isEqualSecret(given, expected)) {
        app.log.warn({ username: user.username, address }, 'wrong code for a notification channel')
        throw badRequest('The code is wrong; compare it with the latest one that arrived')
      }
      if (!await confirmChannel(app.db, id, expected)) throw badRequest('The code was replaced at the same moment; enter the new one')
      await throttle.subtract(keys.target, keys.user)
    }
  }
}
export type Codes = ReturnType<typeof createCodes>
