import { UniqueConstraintViolationException } from '@mikro-orm/core'
import type { EntityManager } from '@mikro-orm/postgresql'
import type { FastifyInstance } from 'fastify'
import type { Caller } from '../../core/auth.ts'
import { ApiError, badRequest, forbidden, notFound } from '../../core/errors.ts'
import { User } from './entities.ts'
import { hashPassword } from './passwords.ts'
import { type CreateUser, type UserView, toUserView } from './schemas.ts'

const USERNAME = /^[A-Za-z0-9_-]{3,255}$/
const EMAIL = /^[^\s@]{1,64}@[A-Za-z0-9.-]{1,190}\.[A-Za-z]{2,}$/
// eslint-disable-next-line no-control-regex
const ASCII = /^[\x00-\x7f]*$/
/** First administrators are made one at a time: any number that is ours alone. */
const FIRST_ADMIN_LOCK = 7_364_121

function checkUsername (username: string): void {
  if (USERNAME.test(username)) return
  throw badRequest(`Username '${username.slice(0, 50)}' must be 3 to 255 letters, digits, '_' or '-'`)
}

export function checkPassword (password: string): void {
  if (password.length >= 6 && password.length <= 255 && ASCII.test(password) && password.trim() !== '') return
  throw badRequest('The password must be 6 to 255 ASCII characters and not blank')
}

function readEmail (email: string): string | null {
  if (email === '') return null
  if (EMAIL.test(email) && ASCII.test(email)) return email.toLowerCase()
  throw badRequest(`Email '${email.slice(0, 50)}' must look like name@example.org`)
}

export const readRole = (role: string) => role.trim().toLowerCase() === 'admin' ? 'admin' : 'user'

async function hasAdmin (em: EntityManager): Promise<boolean> {
  return await em.count(User, { role: 'admin' }) > 0
}

/** @throws ApiError BAD_REQUEST naming the rule that is broken or the name that is taken. */
async function insertUser (em: EntityManager, input: CreateUser): Promise<User> {
  checkUsername(input.username)
  checkPassword(input.password)
  const user = em.create(User, {
    username: input.username.toLowerCase(),
    email: readEmail(input.email),
    password_hash: await hashPassword(input.password),
    role: readRole(input.role)
  })
  try {
    await em.persist(user).flush()
  } catch (err) {
    if (!(err instanceof UniqueConstraintViolationException)) throw err
    const field = err.message.includes('users_email_unique') ? `Email '${input.email}'` : `Username '${input.username}'`
    throw badRequest(`${field} is taken`)
  }
  return user
}

export function createUsers (app: FastifyInstance) {
  async function views (users: readonly User[]): Promise<UserView[]> {
    const access = await app.permissions.listAccess(users.map((user) => user.id))
    return users.flatMap((user) => {
      const own = access.get(user.id)
      return own === undefined ? [] : [toUserView(user, own)]
    })
  }

  return {
    hasAdmin: () => hasAdmin(app.orm.em.fork()),

    /** Makes a user on the server's own authority: for the command line and the first start. */
    create: (input: CreateUser) => insertUser(app.orm.em.fork(), input),

    /** Makes a user on behalf of `caller`; while no administrator exists anyone may make the first. */
    async register (em: EntityManager, caller: Caller | null, input: CreateUser): Promise<User> {
      return await em.transactional(async (tx) => {
        await tx.execute('select pg_advisory_xact_lock(?)', [FIRST_ADMIN_LOCK])
        if (await hasAdmin(tx)) {
          if (caller === null) throw new ApiError('NOT_AUTHENTICATED')
          if (!caller.scopes.has('users.write')) throw forbidden()
          if (readRole(input.role) === 'admin' && caller.role !== 'admin') throw forbidden()
        }
        return await insertUser(tx, input)
      })
    },

    views,

    /** The user as the API shows it. */
    view: async (user: User): Promise<UserView> => toUserView(user, await app.permissions.accessOf(user)),

    list: (em: EntityManager) => em.find(User, {}, { orderBy: { username: 'asc' } }),

    async get (em: EntityManager, id: number): Promise<User> {
      const user = await em.findOne(User, { id })
      if (user === null) throw notFound(`User with ID '${id}' not found`)
      return user
    }
  }
}
