import { randomBytes } from 'node:crypto'
import { UniqueConstraintViolationException } from '@mikro-orm/core'
import type { FastifyInstance } from 'fastify'
import type { Db } from '../../core/database/db.ts'
import { ApiError, conflict, forbidden } from '../../core/errors.ts'
import { PermissionGroup } from '../permissions/group-entities.ts'
import { User } from '../users/entities.ts'
import { type Identity, cleanUsername } from './identity.ts'
import type { OidcSettings } from './settings.ts'

const EDITORS_GROUP = 'Editors'
const NUMBERED_NAMES_MAX = 9

/** Yields names for a new account, the wished one first. */
function * listNames (wantedName: string): Generator<string> {
  const name = cleanUsername(wantedName)
  yield name
  for (let number = 2; number <= NUMBERED_NAMES_MAX; number++) yield `${name}-${number}`
  yield `${name}-${randomBytes(4).toString('hex')}`
}

const isLinked = (user: User, { issuer, subject }: Identity) =>
  user.oidc_issuer === issuer && user.oidc_subject === subject

const findLinked = (db: Db, { issuer, subject }: Identity) =>
  db.em.findOne(User, { oidc_issuer: issuer, oidc_subject: subject })

/** Finds the account with the same verified address. @throws ApiError if the account may belong to somebody else. */
async function findByEmail (db: Db, identity: Identity): Promise<User | null> {
  if (!identity.hasVerifiedEmail) return null
  const user = await db.em.findOne(User, { email: identity.email })
  // A concurrent sign-in of this person may have linked the account at this moment.
  if (user === null || !user.enabled || isLinked(user, identity)) return user
  // An address may pass to another person, a subject never does. A subject of a former provider may be replaced.
  if (user.oidc_issuer === identity.issuer) {
    throw forbidden(`The account with the address '${identity.email}' belongs to somebody else at the provider; ask an ` +
      'administrator to change its address')
  }
  // An attacker may have created an account with this address and may wait for its owner.
  if (!user.email_confirmed) {
    throw forbidden(`The account '${user.username}' has your e-mail address, but nobody has confirmed it; if the account ` +
      'is yours, ask an administrator to save its address again, or reset its password by e-mail, then sign in again')
  }
  // An address must not turn an account with its own password into an administrator's.
  if (identity.role === 'admin' && user.role !== 'admin') {
    throw forbidden(`The account '${user.username}' has your e-mail address, but is not an administrator; ask an ` +
      'administrator to change its role or its address')
  }
  return user
}

async function insertUser (db: Db, identity: Identity, username: string): Promise<User> {
  const group = identity.role === 'editor' ? await db.em.findOne(PermissionGroup, { name: EDITORS_GROUP }) : null
  const user = db.em.create(User, {
    username,
    // An unverified address is not stored, because it would lock out its real owner.
    email: identity.hasVerifiedEmail ? identity.email : null,
    email_confirmed: identity.hasVerifiedEmail,
    password_hash: null,
    role: identity.role === 'admin' ? 'admin' : 'user',
    permission_group: group,
    oidc_issuer: identity.issuer,
    oidc_subject: identity.subject
  })
  await db.em.persist(user).flush()
  return user
}

/** Creates the accounts of users who sign in at the provider. */
export function createSignInAccounts (app: FastifyInstance, settings: OidcSettings) {
  async function link (db: Db, user: User, identity: Identity, address: string): Promise<void> {
    user.oidc_issuer = identity.issuer
    user.oidc_subject = identity.subject
    await db.em.flush()
    await app.audit.record({ event: 'user.linked', user, address, details: { by: 'oidc', issuer: identity.issuer } })
  }

  /** Creates an account for a new person, under the first free name. */
  async function create (db: Db, identity: Identity, address: string): Promise<User> {
    if (!settings.allow_registration) {
      throw forbidden('You have no account on this server, and signing in does not create one; ask an administrator')
    }
    for (const username of listNames(identity.username)) {
      try {
        const user = await insertUser(app.db, identity, username)
        await app.audit.record({ event: 'user.created', user, address, details: { by: 'oidc', role: user.role } })
        return user
      } catch (err) {
        if (!(err instanceof UniqueConstraintViolationException)) throw err
        // A concurrent sign-in of this person may have created the account.
        const twin = await findLinked(db, identity)
        if (twin !== null) return twin
      }
    }
    throw conflict(`No account could be created for '${identity.username}', because another account took its name or address; sign ` +
      'in again')
  }

  async function find (db: Db, identity: Identity, address: string): Promise<User> {
    const user = await findLinked(db, identity) ?? await findByEmail(db, identity)
    if (user === null) return await create(db, identity, address)
    if (!user.enabled) {
      throw new ApiError('NOT_AUTHENTICATED', `The account '${user.username}' is disabled; ask an administrator`)
    }
    if (!isLinked(user, identity)) await link(db, user, identity, address)
    return user
  }

  return { find }
}
