import { type Static, Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../../core/config/config.ts'
import type { EventDescriptions, ServerEvents } from '../../core/sockets/sockets.ts'
import { roomsOf } from '../permissions/audience-rooms.ts'

const RomsDeletedSchema = Type.Object({ ids: Type.Array(Type.Integer()) }, { title: 'RomsDeleted' })

declare module '../../core/sockets/sockets.ts' {
  interface ServerEvents {
    /** ROMs were deleted. */
    'roms:deleted': Static<typeof RomsDeletedSchema>
  }
}

export const deletionEvents: EventDescriptions<ServerEvents> = {
  'roms:deleted': { summary: 'ROMs were deleted', schema: RomsDeletedSchema }
}

/** Announces deleted ROMs to the users who saw them. @param audiences these users, as found before the deletion */
export function announceDeleted (
  app: FastifyInstance, config: Config, ids: readonly number[], audiences: ReadonlyMap<number, readonly number[]>
): void {
  const roomsById = ids.map((id) => ({ id, rooms: roomsOf(audiences.get(id) ?? null, config) }))
  for (const group of Map.groupBy(roomsById, ({ rooms }) => JSON.stringify(rooms)).values()) {
    app.sockets.publish(group[0]?.rooms ?? null, 'roms:deleted', { ids: group.map(({ id }) => id) })
  }
}
