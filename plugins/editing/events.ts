import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../../core/config/config.ts'
import type { ServerEvents } from '../../core/sockets/sockets.ts'
import { roomsOf } from '../permissions/audience-rooms.ts'
import { createEventRomSchema, toEventRom } from '../roms/rom-events.ts'

declare module '../../core/sockets/sockets.ts' {
  interface ServerEvents {
    /** A person changed a ROM. The payload is the simple ROM schema as in scan events. */
    'rom:updated': Record<string, unknown>
  }
}

export function describeEditing (app: FastifyInstance): void {
  const schema = Type.Unsafe<ServerEvents['rom:updated']>(createEventRomSchema(app, 'ShownRom'))
  app.sockets.describe({ 'rom:updated': { summary: 'Somebody changed a ROM', schema } })
}

/** Publishes the current data of ROMs to the users who may see them. */
export async function announceRoms (app: FastifyInstance, config: Config, ids: readonly number[]): Promise<void> {
  const [audiences, roms] = await Promise.all([
    app.permissions.listAudiences(app.db, ids, true), app.roms.views(ids, null)
  ])
  for (const rom of roms) app.sockets.publish(roomsOf(audiences.get(rom.id) ?? null, config), 'rom:updated', toEventRom(rom))
}
