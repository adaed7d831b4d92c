import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import type { Socket } from 'socket.io'
import type { Caller } from '../../core/access/auth.ts'
import { ApiError } from '../../core/errors.ts'
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

declare module '../../core/sockets/sockets.ts' {
  interface ServerEvents {
    'scan:scanning_platform': ScanningPlatform
    /** The simple ROM schema without its files. */
    'scan:scanning_rom': Record<string, unknown> & { is_new: boolean }
    'scan:update_stats': ScanStats
    'scan:done': ScanStats
    'scan:done_ko': string
  }
}

/** The events by which clients start and stop scans. Refusals go to the asking socket alone. */
export function listenForScans (app: FastifyInstance): void {
  const scopes = ['tasks.run'] as const
  const refuse = (socket: Socket, reason: string) => { socket.emit('scan:done_ko', reason) }
  const record = (event: 'scan.started' | 'scan.stopped', user: Caller, { handshake: { address } }: Socket) =>
    app.audit.record({ event, user, address, details: { by: 'socket' } })

  app.sockets.on<ScanPayload>('scan', {
    scopes,
    schema: createScanPayloadSchema(app.registry),
    refuse,
    async handle (payload, caller, socket) {
      try {
        await app.scans.request(payload, caller.id)
        await record('scan.started', caller, socket)
      } catch (err) {
        if (!(err instanceof ApiError)) throw err
        refuse(socket, err.message)
      }
    }
  })
  app.sockets.on('scan:stop', {
    scopes,
    schema: Type.Unknown(),
    refuse,
    async handle (_given, caller, socket) {
      await app.scans.stop()
      await record('scan.stopped', caller, socket)
    }
  })
}
