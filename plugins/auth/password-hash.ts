import { hash, verify } from '@node-rs/argon2'
import PQueue from 'p-queue'
import { ApiError, badRequest } from '../../core/errors.ts'

/** OWASP's first choice for argon2id (Password Storage Cheat Sheet): 19 MiB, two passes, one lane. */
const OPTIONS = { algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const
/**
 * Bounds on hashing, the most expensive work that an anonymous request can cause: few at a time, and a bounded queue.
 */
const CONCURRENCY = 2
const WAITING_MAX = 64

const queue = new PQueue({ concurrency: CONCURRENCY })
let dummy: Promise<string> | null = null

async function enqueue<T> (work: () => Promise<T>): Promise<T> {
  if (queue.size >= WAITING_MAX) {
    throw new ApiError('TOO_MANY_REQUESTS', 'Too many sign-ins at once; try again shortly', { retryAfterSeconds: 2 })
  }
  return await queue.add(work)
}

const LENGTH_MIN = 8
const LENGTH_MAX = 255

/** Keyboards write the same letter as one code point or as two. */
const normalize = (password: string) => password.normalize('NFC')

/**
 * Checks a new password against NIST SP 800-63B, 3.1.1.2.
 *
 * @throws ApiError BAD_REQUEST if it breaks the rule
 */
export async function checkPassword (password: string): Promise<void> {
  const { length } = [...normalize(password)]
  // Half of a surrogate pair would hash like any other half.
  if (length < LENGTH_MIN || length > LENGTH_MAX || password.trim() === '' || !password.isWellFormed()) {
    throw badRequest(`The password must be ${LENGTH_MIN} to ${LENGTH_MAX} characters and not blank`)
  }
  const { COMMON_PASSWORDS } = await import('./passwords/common-passwords.ts')
  if (!COMMON_PASSWORDS.has(normalize(password).toLowerCase())) return
  throw badRequest(`The password is one of the ${COMMON_PASSWORDS.size} most common ones, which attackers try first; choose another one`)
}

export const hashPassword = (password: string) => enqueue(() => hash(normalize(password), OPTIONS))

/** Verifies a password. It takes as long for an unknown account (`null`) as for a known one. */
export async function verifyPassword (passwordHash: string | null, password: string): Promise<boolean> {
  dummy ??= hash('no account has this password', OPTIONS)
  const storedHash = passwordHash ?? await dummy
  const matches = await enqueue(() => verify(storedHash, normalize(password)))
  return matches && passwordHash !== null
}
