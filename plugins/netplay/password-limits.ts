import { sha256 } from '../../core/access/secrets.ts'
import type { Limit } from '../auth/throttle-rows.ts'

const HOUR_SECONDS = 3_600
const FREE_TRIES_PER_ROOM = 10
/** Higher than the limit per room, because a household may join several rooms. */
const FREE_TRIES = 30

const pace = { forgetSeconds: HOUR_SECONDS, waitSeconds: 30, waitMaxSeconds: 15 * 60 }

/**
 * Returns the throttle keys for passwords of a room, tried from one network. Room ids are text from clients, hence the
 * hash.
 */
export function passwordKeys (network: string, roomId: string) {
  const all = `netplay:${network}`
  return { all, room: `${all}:${sha256(roomId)}` }
}
export type PasswordKeys = ReturnType<typeof passwordKeys>

/** No limit counts a room across networks, because strangers could then lock its players out. */
export const passwordLimits = ({ all, room }: PasswordKeys): Limit[] =>
  [{ key: all, freeAttempts: FREE_TRIES, ...pace }, { key: room, freeAttempts: FREE_TRIES_PER_ROOM, ...pace }]
