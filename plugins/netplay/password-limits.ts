import { sha256 } from '../../core/access/secrets.ts'
import type { Limit } from '../auth/throttle-rows.ts'

const HOUR_SECONDS = 3_600
const FREE_TRIES_PER_ROOM = 10
/** A household may join several rooms. */
const FREE_TRIES = 30

const pace = { forgetSeconds: HOUR_SECONDS, waitSeconds: 30, waitMaxSeconds: 15 * 60 }

/** Keys of the tries at the password of a room, from one network. Room ids are text of clients. */
export function passwordKeys (network: string, roomId: string) {
  const all = `netplay:${network}`
  return { all, room: `${all}:${sha256(roomId)}` }
}
export type PasswordKeys = ReturnType<typeof passwordKeys>

/** The room is not counted alone: strangers would keep its players out. */
export const passwordLimits = ({ all, room }: PasswordKeys): Limit[] =>
  [{ key: all, free: FREE_TRIES, ...pace }, { key: room, free: FREE_TRIES_PER_ROOM, ...pace }]
