import type { FastifyInstance } from 'fastify'
import { type Caller, isAdministrator, requireScope, requireSignIn } from '../../core/access/auth.ts'
import type { Context } from '../../core/access/context.ts'
import type { Db } from '../../core/database/db.ts'
import { inTransaction } from '../../core/database/transaction.ts'
import { ApiError, forbidden } from '../../core/errors.ts'
import { checkPassword, hashPassword } from '../auth/password-hash.ts'
import { lockFirstAdmin } from './rows.ts'
import type { ProviderAccounts } from './progress/provider-accounts.ts'
import { User } from './entities.ts'
import { getUser } from './get-user.ts'
import { readEmail, readRole, readUsername, refuseTaken } from './account-fields.ts'
import type { CreateUser, UserView } from './schemas.ts'
import { toGuestView, toUserView } from './views.ts'

const hasAdminIn = async (db: Db): Promise<boolean> => await db.em.count(User, { role: 'admin' }) > 0

/** Returns the columns of a new account. @throws ApiError BAD_REQUEST naming the rule that is broken. */
export async function readNewUser (input: CreateUser) {
  const fields = { username: readUsername(input.username), email: readEmail(input.email), role: readRole(input.role) }
  await checkPassword(input.password)
  return { ...fields, password_hash: await hashPassword(input.password) }
}
type NewUser = Awaited<ReturnType<typeof readNewUser>> & Partial<Pick<User, 'email_confirmed'>>

/** @throws ApiError BAD_REQUEST naming the value that another account already has. */
export async function insertUser (db: Db, fields: NewUser): Promise<User> {
  const user = db.em.create(User, fields)
  await refuseTaken(fields, () => db.em.persist(user).flush())
  return user
}

/**
 * Checks if the caller may create a user with this role. Anyone may while there is no administrator. @throws ApiError
 */
export async function checkMayAdd ({ db, caller }: Context<Caller | null>, role: User['role']): Promise<void> {
  if (!await hasAdminIn(db)) return
  if (caller === null) throw new ApiError('NOT_AUTHENTICATED')
  requireScope(caller, 'users.write')
  if (role === 'admin' && !isAdministrator(caller)) throw forbidden('Only an administrator can make an administrator')
  requireSignIn(caller)
}

export function createUsers (app: FastifyInstance, accounts: ProviderAccounts) {
  async function views (users: readonly User[]): Promise<UserView[]> {
    const ids = users.map((user) => user.id)
    const access = await app.permissions.listAccess(ids)
    const fields = await accounts.views(app.db, ids)
    return users.flatMap((user) => {
      const own = access.get(user.id)
      return own === undefined ? [] : [toUserView(user, own, fields.get(user.id) ?? accounts.noView())]
    })
  }

  async function view (user: User): Promise<UserView> {
    const fields = await accounts.views(app.db, [user.id])
    return toUserView(user, await app.permissions.accessOf(user), fields.get(user.id) ?? accounts.noView())
  }

  return {
    hasAdmin: () => hasAdminIn(app.db),

    /** Creates a user on the authority of the operator, such as by the command line. */
    async create (input: CreateUser, by = 'svc'): Promise<User> {
      const user = await insertUser(app.db, { ...await readNewUser(input), email_confirmed: true })
      const { id, username, role } = user
      await app.audit.record({ event: 'user.created', address: '', details: { by, user_id: id, username, role } })
      return user
    },

    /** Creates a user on behalf of `caller`. While there is no administrator, anyone may create the first. */
    async add (context: Context<Caller | null>, input: CreateUser, address: string): Promise<User> {
      const { db, caller } = context
      const role = readRole(input.role)
      await checkMayAdd(context, role)
      // A request without a caller comes from the person who sets up the server.
      const fields = { ...await readNewUser(input), email_confirmed: caller === null || isAdministrator(caller) }
      const user = await inTransaction(db, async (tx) => {
        await lockFirstAdmin(tx)
        await checkMayAdd({ db: tx, caller }, role)
        return await insertUser(tx, fields)
      })
      await app.audit.record({
        event: 'user.created', user: caller ?? user, address, details: { user_id: user.id, username: user.username, role }
      })
      return user
    },

    views,
    /** Returns the wire form of a user. */
    view,
    get: getUser,

    /** Returns the wire form of the caller, with its current device. */
    async viewOwn ({ db, caller }: Context): Promise<UserView> {
      if (caller.credential === 'kiosk') return toGuestView(caller, accounts.noView())
      const [user, deviceId] = [await getUser(db, caller.id), await app.devices.findUuid(db, caller.device_id)]
      return { ...await view(user), current_device_id: deviceId }
    },

    list: (db: Db) => db.em.find(User, {}, { orderBy: { username: 'asc' } })
  }
}
