import { randomBytes } from 'node:crypto'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { FastifyInstance } from 'fastify'
import type { Caller } from '../../../core/access/auth.ts'
import type { Context } from '../../../core/access/context.ts'
import type { Config } from '../../../core/config/config.ts'
import { shareableBaseUrl } from '../../../core/config/base-url.ts'
import { databaseNow } from '../../../core/database/clock.ts'
import type { Db } from '../../../core/database/db.ts'
import { badRequest } from '../../../core/errors.ts'
import { scopesOf } from '../../../core/access/grants.ts'
import { sha256 } from '../../../core/access/secrets.ts'
import { inTransaction } from '../../../core/database/transaction.ts'
import { OneTimeToken } from '../../auth/entities.ts'
import { createJwts } from '../../auth/jwt.ts'
import { checkPassword } from '../../auth/password-hash.ts'
import { lockSignedIn } from '../../auth/lock-sign-in.ts'
import { ROLES, User } from '../entities.ts'
import { readEmail, readUsername } from '../account-fields.ts'
import { deleteInvite, lockFirstAdmin } from '../rows.ts'
import type { InviteLink, InviteQuery, Register } from '../schemas.ts'
import { checkMayAdd, insertUser, readNewUser } from '../service.ts'

export const REGISTER_PATH = '/register'
const LIFETIME_MAX_SECONDS = 365 * 86_400
const DataSchema = Type.Object({ role: Type.Union(ROLES.map((role) => Type.Literal(role))) })
type InviteData = Static<typeof DataSchema>

const badToken = () => badRequest('The invite is invalid, used or expired; ask for a new one')

function readQuery (config: Config, { role: word, expiration }: InviteQuery) {
  const role = ROLES.find((one) => one === word)
  if (role === undefined) throw badRequest(`'${word.slice(0, 50)}' is not a role; send user or admin`)
  const seconds = expiration ?? config.auth.invite_token_expiry_seconds
  if (seconds > 0 && seconds <= LIFETIME_MAX_SECONDS) return { role, seconds }
  throw badRequest(`The expiration must be 1 to ${LIFETIME_MAX_SECONDS} seconds, not ${seconds}`)
}

/** True if the inviter may still invite, because an invite grants no more than its maker may. */
async function isVouchedFor (
  app: FastifyInstance, tx: Db, inviterId: number | null, role: User['role']
): Promise<boolean> {
  if (inviterId === null) return await tx.em.count(User, { role: 'admin' }) === 0
  const inviter = await tx.em.findOne(User, { id: inviterId, enabled: true })
  if (inviter === null) return false
  if (inviter.role === 'admin') return true
  return role === 'user' && scopesOf(await app.permissions.accessOf(inviter)).includes('users.write')
}

/** @returns the role. The row is deleted in the transaction, so the invite stays valid after a failure. */
async function consume (app: FastifyInstance, tx: Db, jti: string): Promise<InviteData & { inviterId: number | null }> {
  const row = await deleteInvite(tx, sha256(jti))
  if (row === undefined || !Value.Check(DataSchema, row.data)) throw badToken()
  const { role } = row.data
  if (!await isVouchedFor(app, tx, row.user_id, role)) throw badToken()
  return { role, inviterId: row.user_id }
}

/** Links to create an account, each for one use. */
export function createInvites (app: FastifyInstance, config: Config) {
  const jwts = createJwts(app.secrets)
  const base = shareableBaseUrl(config)

  return {
    /** @throws ApiError BAD_REQUEST, or FORBIDDEN if the caller may not invite with this role. */
    async create (context: Context<Caller | null>, query: InviteQuery, address: string): Promise<InviteLink> {
      const { db, caller } = context
      const { role, seconds } = readQuery(config, query)
      await checkMayAdd(context, role)
      const jti = randomBytes(32).toString('base64url')
      await inTransaction(db, async (tx) => {
        if (caller !== null) await lockSignedIn(tx, caller)
        await tx.em.insert(OneTimeToken, {
          token_hash: sha256(jti),
          purpose: 'invite',
          user: caller?.id ?? null,
          data: { role } satisfies InviteData,
          expires_at: new Date(databaseNow() + seconds * 1_000)
        })
      })
      await app.audit.record({ event: 'user.invited', user: caller, address, details: { role, seconds } })
      const token = await jwts.sign('invite', { sub: caller?.username ?? '', jti }, seconds)
      // Only the configured address is used. An address from the request could lead the invited person to a stranger's
      // server.
      return { token, url: base === null ? null : `${base}${REGISTER_PATH}?token=${token}` }
    },

    /** Creates the account of an invite. @throws ApiError BAD_REQUEST; then the invite stays valid. */
    async register (db: Db, { token, ...given }: Register, address: string): Promise<User> {
      const jti = (await jwts.read('invite', token))?.jti
      readUsername(given.username)
      readEmail(given.email)
      await checkPassword(given.password)
      // Hashing is expensive, so the link is checked first.
      if (jti === undefined || await db.em.count(OneTimeToken, { token_hash: sha256(jti), purpose: 'invite' }) === 0) throw badToken()
      const fields = await readNewUser({ ...given, role: 'user' })
      const { user, role, inviterId } = await inTransaction(db, async (tx) => {
        await lockFirstAdmin(tx)
        const invite = await consume(app, tx, jti)
        return { ...invite, user: await insertUser(tx, { ...fields, role: invite.role }) }
      })
      await app.audit.record({ event: 'user.registered', user, address, details: { role, invited_by: inviterId } })
      return user
    }
  }
}
export type Invites = ReturnType<typeof createInvites>
