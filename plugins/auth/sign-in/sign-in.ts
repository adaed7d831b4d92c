import type { FastifyInstance } from 'fastify'
import type { Db } from '../../../core/database/db.ts'
import { ApiError } from '../../../core/errors.ts'
import { networkOf } from '../../../core/config/networks.ts'
import { createKeyedQueue } from '../../../core/concurrency/keyed-queue.ts'
import { User } from '../../users/entities.ts'
import { hashPassword, BCRYPT_BYTES, isImportedHash, verifyPassword } from '../password-hash.ts'
import { toLoginName } from '../login-name.ts'
import { replaceHash, selectImportedCosts } from '../rows.ts'
import { HOUR_SECONDS, type SignInKeys, signInKeys, signInLimits } from '../throttle/limits.ts'
import { createThrottle, tooManyRequests } from '../throttle-rows.ts'

/** Most sign-ins that wait at one address: more than a household needs, and few enough for the memory. */
const WAITING_MAX = 32
const USERNAME_MAX = 255

/** Credentials that a request presents. */
export interface Claim { username: string, password: string, address: string }
/** A disabled account with the right password has a status of its own, for callers that may reveal it. */
export type Verdict = { status: 'right', user: User } | { status: 'disabled' } | { status: 'wrong' }

async function findUser (db: Db, username: string): Promise<User | null> {
  // No account has such a name, and the database rejects a query with it.
  if (username.includes('\0')) return null
  return await db.em.findOne(User, { username: toLoginName(username) })
}

/**
 * Replaces an imported hash by one of this server, now that the password is known. A longer password than bcrypt
 * compares keeps its hash, because the rest of it may be a typing error.
 */
async function renewHash (db: Db, user: User, password: string): Promise<User> {
  const from = user.password_hash ?? null
  if (from === null || !isImportedHash(from) || Buffer.byteLength(password) > BCRYPT_BYTES) return user
  await replaceHash(db, user.id, { from, to: await hashPassword(password) })
  return await db.em.findOne(User, { id: user.id }, { refresh: true }) ?? user
}

/** Checks usernames and passwords, and delays those who guess. */
export function createSignIn (app: FastifyInstance) {
  const throttle = createThrottle(app.db)
  const inOrder = createKeyedQueue(WAITING_MAX, 'sign-ins')

  async function countFailure ({ username, address }: Claim, keys: SignInKeys, accountFailures: number): Promise<void> {
    const name = username.replaceAll('\0', '').slice(0, USERNAME_MAX)
    // Programs that ban addresses search the log for exactly this line.
    app.log.warn({ username: name, address }, 'sign-in failed')
    const wait = await throttle.countFailure(signInLimits(keys, accountFailures))
    await app.audit.record({ event: 'sign_in.failed', username: name, address })
    if (wait === 0) return
    await app.audit.record({ event: 'sign_in.throttled', username: name, address, details: { wait_seconds: wait } })
  }

  async function checkClaim (claim: Claim): Promise<Verdict> {
    const keys = signInKeys(claim.username, claim.address)
    const tries = await throttle.readAttempts(Object.values(keys), HOUR_SECONDS)
    const wait = Math.max(tries.get(keys.address)?.wait_seconds ?? 0, tries.get(keys.pair)?.wait_seconds ?? 0)
    if (wait > 0) throw tooManyRequests(wait)
    const user = await findUser(app.db, claim.username)
    const passwordHash = user?.password_hash ?? null
    const isPasswordRight = await verifyPassword(passwordHash, claim.password, await selectImportedCosts(app.db))
    if (user === null || !isPasswordRight || !user.enabled) {
      await countFailure(claim, keys, tries.get(keys.account)?.count ?? 0)
      return { status: isPasswordRight ? 'disabled' : 'wrong' }
    }
    // Forgive the typing errors for this account, but not the tries of the address on other accounts.
    if (tries.has(keys.pair)) await throttle.subtract(keys.pair, keys.address)
    return { status: 'right', user: await renewHash(app.db, user, claim.password) }
  }

  /**
   * Checks run in sequence for each address, so that the result of a try is known before the next one. Many right tries
   * at once never count as guessing, and many wrong ones are not checked concurrently.
   *
   * @throws ApiError TOO_MANY_REQUESTS while the address has to wait.
   */
  const check = async (claim: Claim): Promise<Verdict> =>
    await inOrder(networkOf(claim.address), async () => await checkClaim(claim))

  return {
    check,

    /** @throws ApiError BAD_CREDENTIALS, the same for an unknown name, a wrong password and a disabled account. */
    async checkOrRefuse (claim: Claim): Promise<User> {
      const verdict = await check(claim)
      if (verdict.status !== 'right') throw new ApiError('BAD_CREDENTIALS')
      return verdict.user
    }
  }
}
export type SignIn = ReturnType<typeof createSignIn>
