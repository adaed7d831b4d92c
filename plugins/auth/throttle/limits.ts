import { networkOf } from '../../../core/config/networks.ts'
import { sha256 } from '../../../core/access/secrets.ts'
import { toLoginName } from '../login-name.ts'
import type { Limit } from '../throttle-rows.ts'

export const HOUR_SECONDS = 3_600
const FREE_TRIES = 10
/** Failures in an hour, from all addresses together, that count as an attack on the account. */
const ATTACK_FAILURES = 30
/** Free tries of one address on an account under attack. */
const FREE_TRIES_UNDER_ATTACK = 3
/** Free reset links for one account. An address may request more in total. */
const FREE_RESETS = 5

const pace = { forgetSeconds: HOUR_SECONDS, waitSeconds: 30, waitMaxSeconds: 15 * 60 }
const limit = (key: string, free = FREE_TRIES): Limit => ({ key, freeAttempts: free, ...pace })
/** Names are hashed, because anybody can send names of any length, and with bytes that text columns reject. */
const nameKey = (username: string) => sha256(toLoginName(username))

/** Returns the keys under which failed sign-ins are counted. */
export function signInKeys (username: string, address: string) {
  const [network, name] = [networkOf(address), nameKey(username)]
  return { address: `sign-in:${network}`, pair: `sign-in:${network}:${name}`, account: `sign-in-account:${name}` }
}
export type SignInKeys = ReturnType<typeof signInKeys>

/**
 * Returns the limits of a sign-in. Only an address has to wait, alone or together with an account. The account's own
 * count causes no wait, because it would lock out its user.
 */
export function signInLimits (keys: SignInKeys, accountFailures: number): Limit[] {
  const free = accountFailures >= ATTACK_FAILURES ? FREE_TRIES_UNDER_ATTACK : FREE_TRIES
  return [limit(keys.address), limit(keys.pair, free), limit(keys.account, Number.MAX_SAFE_INTEGER)]
}

/**
 * Returns the limits on reset links that an address requests, for all accounts and for one. The account alone has no
 * limit, because strangers could use it up and lock out the user.
 */
export function resetRequestLimits (username: string, address: string): Limit[] {
  const key = `reset-request:${networkOf(address)}`
  return [limit(key), limit(`${key}:${nameKey(username)}`, FREE_RESETS)]
}

/** Returns the limits on an address that tries reset links. */
export const resetLimits = (address: string): Limit[] => [limit(`reset:${networkOf(address)}`)]
