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

/** A note that changed; public if it was public before or after the change. */
interface ChangedNote { rom_id: number, user_id: number, is_public: boolean }

/** Publishes a change to the author, or for a public note to all users who may see the ROM. */
export async function announceNotes (app: FastifyInstance, config: Config, note: ChangedNote): Promise<void> {
  const { rom_id: romId } = note
  const rooms = note.is_public
    ? roomsOf((await app.permissions.listAudiences(app.db, [romId])).get(romId) ?? null, config)
    : userRoom(note.user_id)
  app.sockets.publish(rooms, 'notes:changed', { rom_id: romId })
}
