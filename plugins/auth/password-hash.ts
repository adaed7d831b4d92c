import PQueue from 'p-queue'
import { ApiError, badRequest } from '../../core/errors.ts'
import { compareBcrypt } from './passwords/bcrypt.ts'

/** OWASP's first choice for argon2id (Password Storage Cheat Sheet): 19 MiB, two passes, one lane. */
const OPTIONS = { algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const
/**
 * Bounds on hashing, the most expensive work that an anonymous request can cause: few at a time, and a bounded queue.
 */
const CONCURRENCY = 2
const WAITING_MAX = 64

/** Loaded at the first password, because its program takes 2 MB. */
const loadArgon2 = () => import('@node-rs/argon2')

const queue = new PQueue({ concurrency: CONCURRENCY })

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

export const hashPassword = (password: string) => enqueue(async () => {
  const { hash } = await loadArgon2()
  return await hash(normalize(password), OPTIONS)
})

/** A bcrypt hash that an import stored. Its cost is the binary logarithm of the number of rounds. */
const BCRYPT = /^\$2[aby]\$(?<cost>\d\d)\$[./A-Za-z0-9]{53}$/
/** The least and the highest cost that an import accepts: a check of the highest takes about a second. */
const BCRYPT_COSTS = { least: 4, most: 14 } as const
/** bcrypt compares no further bytes of a password. */
export const BCRYPT_BYTES = 72
/** A hash with parameters that cost no more than ours by far, because each check takes so much memory and time. */
const ARGON2 = /^\$argon2id\$v=19\$m=(?<memory>\d{1,5}),t=[1-8],p=(?<lanes>[1-4])\$(?<salt>[A-Za-z0-9+/]{11,86})\$(?<digest>[A-Za-z0-9+/]{22,86})$/
/** The least memory of argon2 per lane, in KiB (RFC 9106, 3.1). */
const ARGON2_LANE_MEMORY = 8

const bcryptCostOf = (passwordHash: string): number | null => {
  const cost = BCRYPT.exec(passwordHash)?.groups?.cost
  return cost === undefined ? null : Number(cost)
}

/** True for base64 without padding that decodes to whole bytes. */
const isBase64 = (text: string) => Buffer.from(text, 'base64').toString('base64').replace(/=+$/, '') === text

/** True for a hash that the verification takes; it throws for any other. */
function isArgon2 (passwordHash: string): boolean {
  const { memory, lanes, salt = '', digest = '' } = ARGON2.exec(passwordHash)?.groups ?? {}
  return Number(memory) >= ARGON2_LANE_MEMORY * Number(lanes) && isBase64(salt) && isBase64(digest)
}

/** True if the hash of another server can be verified here at a reasonable cost. */
export function isVerifiable (passwordHash: string): boolean {
  const cost = bcryptCostOf(passwordHash)
  return cost === null ? isArgon2(passwordHash) : cost >= BCRYPT_COSTS.least && cost <= BCRYPT_COSTS.most
}

/** True if the hash is an imported one, which a sign-in replaces. */
export const isImportedHash = (passwordHash: string): boolean => bcryptCostOf(passwordHash) !== null

/** A hash with our parameters that no account has. */
const ARGON2_DUMMY = `$argon2id$v=19$m=${OPTIONS.memoryCost},t=${OPTIONS.timeCost},p=${OPTIONS.parallelism}$${'A'.repeat(22)}$${'A'.repeat(43)}`

/** Returns a hash of this cost that no account has. */
const bcryptDummy = (cost: number) => `$2b$${String(cost).padStart(2, '0')}$${'x'.repeat(53)}`

/** Verifies a password as other servers do: as typed, without normalization. */
async function matchesBcrypt (passwordHash: string, password: string): Promise<boolean> {
  // bcrypt ends a password at NUL, which no password of another server contains.
  return await enqueue(() => compareBcrypt(password, passwordHash)) && !password.includes('\0')
}

async function matchesArgon2 (passwordHash: string | null, password: string): Promise<boolean> {
  const { verify } = await loadArgon2()
  return await enqueue(() => verify(passwordHash ?? ARGON2_DUMMY, normalize(password))) && passwordHash !== null
}

/**
 * Verifies a password. It takes as long for an unknown account (`null`) as for a known one: each check makes one
 * argon2 verification, and one bcrypt verification for each cost that an imported hash of this server has.
 */
export async function verifyPassword (
  passwordHash: string | null, password: string, importedCosts: readonly number[] = []
): Promise<boolean> {
  const ownCost = passwordHash === null ? null : bcryptCostOf(passwordHash)
  let matches = await matchesArgon2(ownCost === null ? passwordHash : null, password)
  const costs = new Set(ownCost === null ? importedCosts : [...importedCosts, ownCost])
  for (const cost of costs) {
    const isOwn = cost === ownCost && passwordHash !== null
    const matched = await matchesBcrypt(isOwn ? passwordHash : bcryptDummy(cost), password)
    matches ||= isOwn && matched
  }
  return matches
}
