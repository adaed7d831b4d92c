import type { FastifyInstance } from 'fastify'
import type { Config } from '../../core/config/config.ts'
import { roomsOf } from '../scans/tell/announcer.ts'

declare module '../../core/sockets/sockets.ts' {
  interface ServerEvents {
    /** Somebody deleted ROMs. */
    'roms:deleted': { ids: number[] }
  }
}

/** Tells those who saw ROMs that they are gone. @param audiences who did, as it was found before */
export function announceDeleted (
  app: FastifyInstance, config: Config, ids: readonly number[], audiences: ReadonlyMap<number, readonly number[]>
): void {
  const roomsById = ids.map((id) => ({ id, rooms: roomsOf(audiences.get(id) ?? null, config) }))
  for (const group of Map.groupBy(roomsById, ({ rooms }) => JSON.stringify(rooms)).values()) {
    app.sockets.publish(group[0]?.rooms ?? null, 'roms:deleted', { ids: group.map(({ id }) => id) })
  }
}
