import type { Config } from '../../core/config/config.ts'
import { SIGNED_IN_ROOM, userRoom } from '../../core/sockets/sockets.ts'

/** Returns the socket rooms of the users who may see a thing of the library; null for every socket. */
export function roomsOf (audience: readonly number[] | null, { sockets }: Pick<Config, 'sockets'>): string | string[] | null {
  return audience?.map(userRoom) ?? (sockets.guests === 'totals' ? SIGNED_IN_ROOM : null)
}
