import type { FastifyInstance } from 'fastify'
import { ApiError } from '../../core/errors.ts'
import { Type } from '@sinclair/typebox'
import { type ScanPayload, type ScanStats, createScanPayloadSchema } from './schemas.ts'

export interface ScanningPlatform {
  id: number
  name: string
  display_name: string
  slug: string
  fs_slug: string
  is_identified: boolean
  new_firmware_count: number
}

declare module '../../core/sockets.ts' {
  interface ServerEvents {
    'scan:scanning_platform': ScanningPlatform
    /** The simple ROM schema without its files. */
    'scan:scanning_rom': Record<string, unknown> & { is_new: boolean }
    'scan:update_stats': ScanStats
    'scan:done': ScanStats
    'scan:done_ko': string
  }
}

/** The events by which clients start and stop scans. */
export function listenForScans (app: FastifyInstance): void {
  const scopes = ['tasks.run'] as const
  app.sockets.on<ScanPayload>('scan', {
    scopes,
    schema: createScanPayloadSchema([...app.registry.providers.keys()]),
    refuse: (socket, reason) => { socket.emit('scan:done_ko', reason) },
    async handle (payload, caller, socket) {
      try {
        await app.scans.request(payload, caller.id)
      } catch (err) {
        if (!(err instanceof ApiError)) throw err
        socket.emit('scan:done_ko', err.message)
      }
    }
  })
  app.sockets.on('scan:stop', {
    scopes,
    schema: Type.Any(),
    refuse: (socket, reason) => { socket.emit('scan:done_ko', reason) },
    async handle () { await app.scans.stop() }
  })
}
