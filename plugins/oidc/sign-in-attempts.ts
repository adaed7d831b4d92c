import { randomBytes } from 'node:crypto'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { FastifyInstance } from 'fastify'
import { databaseNow } from '../../core/database/clock.ts'
import { sha256 } from '../../core/access/secrets.ts'
import { insertSpentAttempt } from './rows.ts'

export const ATTEMPT_COOKIE = 'svc_oidc'
/** Long enough to sign in at the provider. */
export const ATTEMPT_SECONDS = 10 * 60
const PURPOSE = 'oidc-attempt'

/** One sign-in at the provider. Only the browser that began it can finish it. */
const AttemptSchema = Type.Object({
  state: Type.String(), nonce: Type.String(), code_verifier: Type.String(), ends_at: Type.Integer()
})
export type Attempt = Static<typeof AttemptSchema>

const random = () => randomBytes(32).toString('base64url')

/**
 * Attempts travel sealed in a cookie, so that any worker can finish them. The database stores used attempts for as long
 * as their cookies are valid.
 */
export function createAttempts (app: FastifyInstance) {
  return {
    begin: (): Attempt => ({
      state: random(), nonce: random(), code_verifier: random(), ends_at: databaseNow() + ATTEMPT_SECONDS * 1_000
    }),

    seal: (attempt: Attempt): string => app.secrets.seal(PURPOSE, JSON.stringify(attempt)),

    /** Opens a cookie; null if it is not ours, was changed, or has expired. */
    open (cookie: string): Attempt | null {
      const text = app.secrets.open(PURPOSE, cookie)
      const attempt: unknown = text === null ? null : JSON.parse(text)
      return Value.Check(AttemptSchema, attempt) && attempt.ends_at > databaseNow() ? attempt : null
    },

    /** Uses up an attempt. @returns true if it was unused */
    async consume ({ state, ends_at: endsAt }: Attempt): Promise<boolean> {
      return await insertSpentAttempt(app.db, sha256(`${PURPOSE}.${state}`), new Date(endsAt))
    }
  }
}
