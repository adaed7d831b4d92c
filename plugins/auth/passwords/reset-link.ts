import { randomBytes } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { sha256 } from '../../../core/access/secrets.ts'
import { databaseDate, databaseNow } from '../../../core/database/clock.ts'
import type { Db } from '../../../core/database/db.ts'
import { mayAcceptLater } from '../../mail/may-accept-later.ts'
import { User } from '../../users/entities.ts'
import { OneTimeToken } from '../entities.ts'
import type { Jwts } from '../jwt.ts'
import { toLoginName } from '../login-name.ts'

export const RESET_PATH = '/reset-password'
const LIFETIME_SECONDS = 600
/** Most valid links of one account. Without it many addresses could flood a mailbox. */
const LIVE_LINKS_MAX = 5

/** The queue of links whose mails the server refused for now. Its jobs hold no link: each try makes a new one. */
const RETRY_QUEUE = 'reset-links'
/** Seconds before each further try. Servers with greylisting accept a mail after one to five minutes. */
const RETRY_SECONDS = [60, 300, 600]
/** Jobs may wait for a scan worker, and nobody expects a link any more after this time. */
const RETRY_UNTIL_MS = 60 * 60_000
const MAIL_TIMEOUT_SECONDS = 120

/** A request for a link whose mail was not accepted yet. `requested_at` is milliseconds since 1970. */
interface LinkRetry { user_id: number, tries: number, requested_at: number }

/** The signer of links, and the address of this server in them; null if no address is certain. */
interface ResetLinks { jwts: Jwts, baseUrl: string | null }

/** Stores a link for one use, and returns it with its key. */
async function createLink (db: Db, jwts: Jwts, user: User, base: string): Promise<{ link: string, tokenHash: string }> {
  const jti = randomBytes(32).toString('base64url')
  const tokenHash = sha256(jti)
  await db.em.insert(OneTimeToken, {
    token_hash: tokenHash,
    purpose: 'reset',
    user: user.id,
    data: { email: user.email },
    expires_at: new Date(databaseNow() + LIFETIME_SECONDS * 1_000)
  })
  const token = await jwts.sign('reset', { sub: user.username, jti }, LIFETIME_SECONDS)
  return { link: `${base}${RESET_PATH}?token=${token}`, tokenHash }
}

async function hasLinks (db: Db, user: User): Promise<boolean> {
  const live = { user: user.id, purpose: 'reset', expires_at: { $gt: databaseDate() } } as const
  return await db.em.count(OneTimeToken, live) >= LIVE_LINKS_MAX
}

/** Queues another try, unless the server refused for good or often enough. */
async function retryLater (app: FastifyInstance, err: unknown, retry: LinkRetry, username: string): Promise<void> {
  const delaySeconds = mayAcceptLater(err) ? RETRY_SECONDS[retry.tries] : undefined
  if (delaySeconds === undefined) {
    app.log.error({ err, username }, 'the reset link could not be mailed')
    return
  }
  app.log.warn({ err, username, retrySeconds: delaySeconds }, 'the reset link could not be mailed yet')
  await app.jobs.send(RETRY_QUEUE, { ...retry, tries: retry.tries + 1 }, { delaySeconds })
}

async function mailLink (
  app: FastifyInstance, { jwts, baseUrl }: ResetLinks, user: User, retry: LinkRetry
): Promise<void> {
  const { username, email } = user
  if (await hasLinks(app.db, user)) {
    app.log.info({ username }, 'the user has enough valid reset links; no further link was created')
    return
  }
  // Without a base address that is certain, a link could lead to a stranger's server. It is not logged either,
  // because every reader of the log could take over the account.
  if (!app.mail.isConfigured || baseUrl === null || email === null || email === undefined) {
    app.log.warn({ username }, 'a password reset was requested, but no link can be mailed; svc user password sets a new password')
    return
  }
  const { link, tokenHash } = await createLink(app.db, jwts, user, baseUrl)
  try {
    await app.mail.send({
      to: email,
      subject: 'Reset your password',
      text: `Somebody asked to reset the password of '${username}'.\n\nTo choose a new one open this link within 10 ` +
        `minutes:\n\n${link}\n\nIf you did not request this, ignore this mail; your password is unchanged.\n`
    })
  } catch (err) {
    await app.db.em.nativeDelete(OneTimeToken, { token_hash: tokenHash })
    await retryLater(app, err, retry, username)
  }
}

/** Mails a link to a user who exists and has an address. The audit log has every request. */
export async function sendResetLink (
  app: FastifyInstance, links: ResetLinks, username: string, address: string
): Promise<void> {
  const user = await app.db.em.findOne(User, { username: toLoginName(username), enabled: true })
  await app.audit.record({ event: 'password.reset_requested', user, username, address })
  if (user === null) return
  await mailLink(app, links, user, { user_id: user.id, tries: 0, requested_at: databaseNow() })
}

/** Defines the further tries, which the scan worker makes. */
export function defineLinkRetries (app: FastifyInstance, links: ResetLinks): void {
  app.jobs.define<LinkRetry>(RETRY_QUEUE, {
    concurrency: 1,
    timeoutSeconds: MAIL_TIMEOUT_SECONDS,
    async run (retry) {
      const user = await app.db.em.findOne(User, { id: retry.user_id, enabled: true })
      if (user !== null && databaseNow() - retry.requested_at < RETRY_UNTIL_MS) await mailLink(app, links, user, retry)
      return null
    }
  })
}
