import { type Static, Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import type { Socket } from 'socket.io'
import type { Caller } from '../../core/access/auth.ts'
import { ApiError } from '../../core/errors.ts'
import type { ServerEvents } from '../../core/sockets/sockets.ts'
import { type ScanPayload, type ScanStats, ScanStatsSchema, createScanPayloadSchema } from './schemas.ts'
import { createEventRomSchema } from '../roms/rom-events.ts'

const ScanningPlatformSchema = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  display_name: Type.String(),
  slug: Type.String(),
  fs_slug: Type.String(),
  is_identified: Type.Boolean(),
  new_firmware_count: Type.Integer()
}, { title: 'ScanningPlatform' })
export type ScanningPlatform = Static<typeof ScanningPlatformSchema>

declare module '../../core/sockets/sockets.ts' {
  interface ServerEvents {
    'scan:scanning_platform': ScanningPlatform
    /** The simple ROM schema without the files of the ROM. */
    'scan:scanning_rom': Record<string, unknown> & { is_new: boolean }
    'scan:update_stats': ScanStats
    'scan:done': ScanStats
    'scan:done_ko': string
  }
}

const ROM_FLAGS = { is_new: Type.Boolean(), is_identifying: Type.Boolean() }

export function describeScans (app: FastifyInstance): void {
  const rom = Type.Unsafe<ServerEvents['scan:scanning_rom']>(createEventRomSchema(app, 'ScanningRom', ROM_FLAGS))
  app.sockets.describe({
    'scan:scanning_platform': { summary: 'A scan starts with a platform', schema: ScanningPlatformSchema },
    'scan:scanning_rom': { summary: 'A scan starts or finishes a ROM; not every ROM gets an event', schema: rom },
    'scan:update_stats': { summary: 'The progress of a scan', schema: ScanStatsSchema },
    'scan:done': { summary: 'A scan ended', schema: ScanStatsSchema },
    'scan:done_ko': { summary: 'A scan failed, or was refused', schema: Type.String({ description: 'The reason' }) }
  })
}

/** Handles the events by which clients start and stop scans. Only the socket that asked gets a refusal. */
export function listenForScans (app: FastifyInstance): void {
  const scopes = ['tasks.run'] as const
  const refuse = (socket: Socket, reason: string) => { socket.emit('scan:done_ko', reason) }
  const record = (event: 'scan.started' | 'scan.stopped', user: Caller, { handshake: { address } }: Socket) =>
    app.audit.record({ event, user, address, details: { by: 'socket' } })

  app.sockets.on<ScanPayload>('scan', {
    summary: 'Start a scan',
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
    summary: 'Stop the running scan',
    scopes,
    schema: Type.Unknown(),
    refuse,
    async handle (_given, caller, socket) {
      await app.scans.stop()
      await record('scan.stopped', caller, socket)
    }
  })
}
