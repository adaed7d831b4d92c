import type { FastifyInstance } from 'fastify'
import type { Config } from '../../core/config/config.ts'
import { roomsOf, toShown } from '../scans/tell/announcer.ts'

declare module '../../core/sockets/sockets.ts' {
  interface ServerEvents {
    /** Somebody changed a ROM: the simple ROM schema as scans announce it. */
    'rom:updated': Record<string, unknown>
  }
}

/** Tells those who may see a ROM what became of it. */
export async function announceRom (app: FastifyInstance, config: Config, id: number): Promise<void> {
  const [audiences, [rom]] = await Promise.all([app.permissions.listAudiences([id]), app.roms.views([id], null)])
  if (rom !== undefined) app.sockets.publish(roomsOf(audiences.get(id) ?? null, config), 'rom:updated', toShown(rom))
}
