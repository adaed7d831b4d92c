import { randomBytes } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { sha256 } from '../../../core/access/secrets.ts'
import { databaseDate, databaseNow } from '../../../core/database/clock.ts'
import type { Db } from '../../../core/database/db.ts'
import { User } from '../../users/entities.ts'
import { OneTimeToken } from '../entities.ts'
import type { Jwts } from '../jwt.ts'
import { toLoginName } from '../login-name.ts'

export const RESET_PATH = '/reset-password'
const LIFETIME_SECONDS = 600
/** Most valid links of one account. Without it many addresses could flood a mailbox. */
const LIVE_LINKS_MAX = 5

/** The signer of links, and the address of this server in them; null if no address is certain. */
interface ResetLinks { jwts: Jwts, baseUrl: string | null }

/** Stores a link for one use, and returns it. */
async function createLink (db: Db, jwts: Jwts, user: User, base: string): Promise<string> {
  const jti = randomBytes(32).toString('base64url')
  await db.em.insert(OneTimeToken, {
    token_hash: sha256(jti),
    purpose: 'reset',
    user: user.id,
    data: { email: user.email },
    expires_at: new Date(databaseNow() + LIFETIME_SECONDS * 1_000)
  })
  const token = await jwts.sign('reset', { sub: user.username, jti }, LIFETIME_SECONDS)
  return `${base}${RESET_PATH}?token=${token}`
}

async function hasLinks (db: Db, user: User): Promise<boolean> {
  const live = { user: user.id, purpose: 'reset', expires_at: { $gt: databaseDate() } } as const
  return await db.em.count(OneTimeToken, live) >= LIVE_LINKS_MAX
}

async function mailLink (app: FastifyInstance, { jwts, baseUrl }: ResetLinks, user: User): Promise<void> {
  const { username, email } = user
  // Without a base address that is certain, a link could lead to a stranger's server. It is not logged either,
  // because every reader of the log could take over the account.
  if (!app.mail.isConfigured || baseUrl === null || email === null || email === undefined) {
    app.log.warn({ username }, 'a password reset was requested, but no link can be mailed; svc user password sets a new password')
    return
  }
  const link = await createLink(app.db, jwts, user, baseUrl)
  try {
    await app.mail.send({
      to: email,
      subject: 'Reset your password',
      text: `Somebody asked to reset the password of '${username}'.\n\nTo choose a new one open this link within 10 ` +
        `minutes:\n\n${link}\n\nIf you did not request this, ignore this mail; your password is unchanged.\n`
    })
  } catch (err) {
    app.log.error({ err, username }, 'the reset link could not be mailed')
  }
}

/** Mails a link to a user who exists and has an address. The audit log has every request. */
export async function sendResetLink (
  app: FastifyInstance, links: ResetLinks, username: string, address: string
): Promise<void> {
  const user = await app.db.em.findOne(User, { username: toLoginName(username), enabled: true })
  await app.audit.record({ event: 'password.reset_requested', user, username, address })
  if (user === null) return
  if (await hasLinks(app.db, user)) {
    app.log.info({ username: user.username }, 'the user has enough valid reset links; no further link was created')
    return
  }
  await mailLink(app, links, user)
}
