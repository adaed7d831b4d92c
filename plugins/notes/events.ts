import { type Static, Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../../core/config/config.ts'
import { type EventDescriptions, type ServerEvents, userRoom } from '../../core/sockets/sockets.ts'
import { roomsOf } from '../permissions/audience-rooms.ts'

const NotesChanged = Type.Object({ rom_id: Type.Integer() }, { title: 'NotesChanged' })

declare module '../../core/sockets/sockets.ts' {
  interface ServerEvents {
    /** Notes about a ROM changed; clients may load them again. */
    'notes:changed': Static<typeof NotesChanged>
  }
}

export const noteEvents: EventDescriptions<ServerEvents> = {
  'notes:changed': { summary: 'Notes about a ROM changed', schema: NotesChanged }
}

/** Publishes a change to the author, or for a public note to all users who may see the ROM. */
export async function announceNotes (
  app: FastifyInstance, config: Config, romId: number, authorId: number, isPublic: boolean
): Promise<void> {
  const rooms = isPublic
    ? roomsOf((await app.permissions.listAudiences(app.db, [romId])).get(romId) ?? null, config)
    : userRoom(authorId)
  app.sockets.publish(rooms, 'notes:changed', { rom_id: romId })
}
