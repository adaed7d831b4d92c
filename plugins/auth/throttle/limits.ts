import { networkOf } from '../../../core/config/networks.ts'
import { sha256 } from '../../../core/access/secrets.ts'
import type { Limit } from '../throttle-rows.ts'

export const HOUR_SECONDS = 3_600
const FREE_TRIES = 10
/** So many failures in the hour, wherever they come from, are an attack on the account. */
const ATTACK_FAILURES = 30
/** Free tries of one address on an account that is under attack. */
const FREE_TRIES_UNDER_ATTACK = 3
/** An address may ask for more links than for those of one account. */
const FREE_RESETS = 5

const pace = { forgetSeconds: HOUR_SECONDS, waitSeconds: 30, waitMaxSeconds: 15 * 60 }
const limit = (key: string, free = FREE_TRIES): Limit => ({ key, free, ...pace })
/** Names are anything that strangers type: of any length, and with bytes that text columns refuse. */
const nameKey = (username: string) => sha256(username.toLowerCase())

/** Under what failed sign-ins are counted. */
export function signInKeys (username: string, address: string) {
  const [network, name] = [networkOf(address), nameKey(username)]
  return { address: `sign-in:${network}`, pair: `sign-in:${network}:${name}`, account: `sign-in-account:${name}` }
}
export type SignInKeys = ReturnType<typeof signInKeys>

/**
 * Only an address is ever made to wait, alone or together with an account. The account's own count makes nobody wait:
 * it would lock its owner out.
 */
export function signInLimits (keys: SignInKeys, accountFailures: number): Limit[] {
  const free = accountFailures >= ATTACK_FAILURES ? FREE_TRIES_UNDER_ATTACK : FREE_TRIES
  return [limit(keys.address), limit(keys.pair, free), limit(keys.account, Number.MAX_SAFE_INTEGER)]
}

/**
 * How often an address may ask for reset links, of all accounts and of one. The account is not counted alone: strangers
 * would keep its owner from asking.
 */
export function resetRequestLimits (username: string, address: string): Limit[] {
  const key = `reset-request:${networkOf(address)}`
  return [limit(key), limit(`${key}:${nameKey(username)}`, FREE_RESETS)]
}

/** How often an address may try a reset link. */
export const resetLimits = (address: string): Limit[] => [limit(`reset:${networkOf(address)}`)]
