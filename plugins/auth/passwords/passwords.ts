import { hash, verify } from '@node-rs/argon2'
import PQueue from 'p-queue'
import { ApiError, badRequest } from '../../../core/errors.ts'

/** OWASP's first choice for argon2id (Password Storage Cheat Sheet): 19 MiB, two passes, one lane. */
const OPTIONS = { algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const
/** Hashing is the dearest thing a stranger can ask for: few at a time, and a bounded line. */
const CONCURRENCY = 2
const WAITING_MAX = 64

// eslint-disable-next-line no-control-regex
const ASCII = /^[\x00-\x7f]*$/

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

/** @throws ApiError BAD_REQUEST when a new password breaks the rule. */
export function checkPassword (password: string): void {
  const { length } = password
  if (length >= LENGTH_MIN && length <= LENGTH_MAX && ASCII.test(password) && password.trim() !== '') return
  throw badRequest(`The password must be ${LENGTH_MIN} to ${LENGTH_MAX} ASCII characters and not blank`)
}

export const hashPassword = (password: string) => enqueue(() => hash(password, OPTIONS))

/** Takes as long for an unknown account (`null`) as for a known one. */
export async function verifyPassword (passwordHash: string | null, password: string): Promise<boolean> {
  dummy ??= hash('no account has this password', OPTIONS)
  const known = passwordHash ?? await dummy
  const matches = await enqueue(() => verify(known, password))
  return matches && passwordHash !== null
}
