import { randomBytes } from 'node:crypto'
import { databaseNow } from '../../core/database/clock.ts'
import type { Config } from '../../core/config/config.ts'
import { tokenPrefixes } from '../../core/access/names.ts'
import type { Lifetime } from './schemas.ts'

/** The purpose under which a token is sealed until its device fetches it. */
export const TOKEN_SEAL = 'device-authorization'
const DAY_MS = 86_400_000
const LIFETIME_MS = { '30d': 30 * DAY_MS, '90d': 90 * DAY_MS, '1y': 365 * DAY_MS, never: null } as const

/** Creates the text of a token, which is never stored. */
export const createRawToken = (config: Config) => tokenPrefixes(config)[0] + randomBytes(32).toString('hex')

/** Returns the expiry of a token created now; null for never. */
export function expiryOf (lifetime: Lifetime | null | undefined): Date | null {
  const span = LIFETIME_MS[lifetime ?? 'never']
  return span === null ? null : new Date(databaseNow() + span)
}
