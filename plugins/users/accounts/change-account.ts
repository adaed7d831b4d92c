import type { FastifyInstance } from 'fastify'
import { type Caller, isAdministrator, requireSignIn } from '../../../core/access/auth.ts'
import type { Context } from '../../../core/access/context.ts'
import type { Db } from '../../../core/database/db.ts'
import { badRequest, invalid } from '../../../core/errors.ts'
import { inTransaction } from '../../../core/database/transaction.ts'
import { OneTimeToken, Session } from '../../auth/entities.ts'
import { type RemainingSignIns, replacePassword } from '../../auth/new-password.ts'
import { checkPassword, hashPassword } from '../../auth/password-hash.ts'
import { lockSignedIn } from '../../auth/lock-sign-in.ts'
import { checkOwnOrAdmin } from '../admins.ts'
import { isLastAdmin } from '../rows.ts'
import { getUser } from '../get-user.ts'
import type { ProviderAccounts } from '../progress/provider-accounts.ts'
import type { Avatars, StagedAvatar } from '../profile/avatars.ts'
import type { User } from '../entities.ts'
import { readEmail, readRole, readSettings, readUsername, refuseTaken } from '../account-fields.ts'
import type { Roles } from './roles.ts'
import type { UpdateUser } from '../schemas.ts'

type Columns = Partial<Pick<User, 'username' | 'email' | 'role' | 'enabled' | 'ui_settings'>>

/** The values that an update writes. All are read and checked before the first change. */
interface AccountUpdate {
  columns: Columns
  /** True if the update changes who may sign in, or the role. */
  decidesAccess: boolean
  /** Settings for providers. */
  accounts: ReadonlyMap<string, Record<string, unknown>>
  passwordHash: string | null
  remainingSignIns: RemainingSignIns
  avatar: StagedAvatar | null
}

/** The user before and after an update. */
interface UserChange {
  user: User
  before: Pick<User, 'username' | 'role' | 'enabled'>
  changed: string[]
  hasNewPassword: boolean
}

const isGiven = <T>(value: T | null | undefined): value is T => value !== undefined && value !== null

/** Users cannot set their own role and state: nobody makes themselves an administrator or locks themselves out. */
function readColumns (input: UpdateUser, isOwn: boolean): Columns {
  const { username, email, role, enabled, ui_settings: settings } = input
  return {
    ...isGiven(username) && { username: readUsername(username) },
    ...isGiven(email) && { email: readEmail(email) },
    ...isGiven(role) && !isOwn && { role: readRole(role) },
    ...isGiven(enabled) && !isOwn && { enabled },
    ...isGiven(settings) && { ui_settings: readSettings(settings) }
  }
}

/** Columns that decide who may sign in, and with which role. */
const ACCESS_COLUMNS = ['username', 'email', 'role', 'enabled'] as const

const changesAccess = (columns: Columns, user: User) =>
  ACCESS_COLUMNS.some((name) => columns[name] !== undefined && columns[name] !== user[name])

/**
 * True if the address counts as confirmed. Saving it as an administrator confirms it, even unchanged; a change by the
 * user does not.
 */
function isConfirmedBy (caller: Caller, columns: Columns, user: User): boolean {
  if (columns.email === undefined) return user.email_confirmed
  return isAdministrator(caller) || (user.email_confirmed && columns.email === user.email)
}

/** @returns an empty text if the picture is removed; null if it stays */
function readAvatar (avatar: unknown): Buffer | '' | null {
  if (avatar === undefined || avatar === null) return null
  if (avatar === '') return avatar
  if (Buffer.isBuffer(avatar)) return avatar
  throw invalid(['body', 'avatar'], 'must be a file of a multipart form')
}

async function readPassword (password: string | null | undefined): Promise<string | null> {
  if (!isGiven(password)) return null
  await checkPassword(password)
  return await hashPassword(password)
}

function checkAdminsLeft (user: User, { role, enabled }: Columns): void {
  const losesAdmin = role === 'user' || enabled === false
  if (losesAdmin) throw badRequest(`'${user.username}' is the last administrator; make another user an administrator first`)
}

async function endLogins (tx: Db, userId: number): Promise<void> {
  await tx.em.nativeDelete(Session, { user: userId })
  await tx.em.nativeDelete(OneTimeToken, { user: userId, purpose: { $in: ['refresh', 'reset'] } })
}

/** The services that change an account, and the data that depends on it. */
interface ChangeServices { app: FastifyInstance, avatars: Avatars, roles: Roles, accounts: ProviderAccounts }

/** The caller of a change, and the address of the request. */
interface ChangedBy { user: Caller, address: string }

/** Writes the audit log of a change, and announces a new role. */
async function record ({ app, roles }: ChangeServices, by: ChangedBy, change: UserChange): Promise<void> {
  const { user, before, changed, hasNewPassword } = change
  const details = { user_id: user.id, username: user.username }
  if (changed.length > 0) await app.audit.record({ event: 'user.updated', ...by, details: { ...details, fields: changed.join(', ') } })
  if (hasNewPassword) await app.audit.record({ event: 'password.changed', ...by, details })
  if (before.enabled !== user.enabled) {
    await app.audit.record({ event: user.enabled ? 'user.enabled' : 'user.disabled', ...by, details })
  }
  if (before.role === user.role) return
  await roles.announceRole({ user, from: before.role, to: user.role, actor: by.user }, by.address)
}

/** All errors are detected before the picture is written. */
async function readUpdate (
  { app, avatars, accounts }: ChangeServices, input: UpdateUser, user: User, { user: caller, address }: ChangedBy
): Promise<AccountUpdate> {
  const isOwn = user.id === caller.id
  const columns = readColumns(input, isOwn)
  const confirms = isConfirmedBy(caller, columns, user) && !user.email_confirmed
  const decidesAccess = isGiven(input.password) || confirms || changesAccess(columns, user)
  if (decidesAccess) requireSignIn(caller)
  const changesEmail = columns.email !== undefined && columns.email !== user.email
  // Both changes give access to the account, because reset links go to the e-mail address.
  if (isOwn && (isGiven(input.password) || changesEmail)) {
    await app.sessions.requireOwner(caller, input.current_password, address)
  }
  const content = readAvatar(input.avatar)
  const passwordHash = await readPassword(input.password)
  const remainingSignIns = { keep_tokens: input.keep_tokens }
  const staged = content === '' ? avatars.stageRemoval(user) : content && await avatars.stage(user, content)
  return {
    columns, decidesAccess, accounts: accounts.readUpdate(input), passwordHash, remainingSignIns, avatar: staged
  }
}

async function writeUpdate (
  { accounts }: ChangeServices, { db: tx, caller }: Context, id: number, update: AccountUpdate
): Promise<UserChange> {
  const isLast = await isLastAdmin(tx, id)
  if (update.decidesAccess) await lockSignedIn(tx, caller)
  const user = await getUser(tx, id)
  const { username, role, enabled } = user
  if (isLast) checkAdminsLeft(user, update.columns)
  tx.em.assign(user, { ...update.columns, email_confirmed: isConfirmedBy(caller, update.columns, user) })
  if (update.avatar !== null) user.avatar_path = update.avatar.path
  await tx.em.flush()
  await accounts.write(tx, id, update.accounts)
  if (update.passwordHash !== null) await replacePassword(tx, id, update.passwordHash, update.remainingSignIns)
  if (!user.enabled) await endLogins(tx, id)
  if (caller.id === id && username !== user.username && caller.session_id !== null) {
    await tx.em.nativeDelete(Session, { id: caller.session_id })
  }
  await update.avatar?.publish()
  const set = [...update.accounts.values()].flatMap((settings) => Object.keys(settings))
  const changed = [...Object.keys(update.columns), ...set]
  return {
    user,
    before: { username, role, enabled },
    changed: update.avatar === null ? changed : [...changed, 'avatar'],
    hasNewPassword: update.passwordHash !== null
  }
}

/** Creates the change of accounts, with everything that depends on them. */
export function createAccountChanges (services: ChangeServices) {
  const { app } = services
  return {
    /**
     * @returns the user, and if the update ended the caller's own session
     * @throws ApiError FORBIDDEN, NOT_FOUND, BAD_REQUEST, INVALID
     */
    async update ({ db, caller }: Context, id: number, input: UpdateUser, address: string) {
      checkOwnOrAdmin(caller, id)
      const isOwn = caller.id === id
      const update = await readUpdate(services, input, await getUser(db, id), { user: caller, address })
      const { columns, passwordHash, avatar } = update
      try {
        const outcome = await refuseTaken(columns, () =>
          inTransaction(db, (tx) => writeUpdate(services, { db: tx, caller }, id, update)))
        const { user, before } = outcome
        const isRenamed = before.username !== user.username
        if (!user.enabled) await app.sockets.end({ kind: 'user', id })
        else if (isOwn && isRenamed && caller.session_id !== null) await app.sockets.end({ kind: 'session', id: caller.session_id })
        await record(services, { user: caller, address }, outcome)
        return { user, endsOwnSession: isOwn && (isRenamed || passwordHash !== null) }
      } finally {
        await avatar?.discard()
      }
    }
  }
}
export type Changes = ReturnType<typeof createAccountChanges>
