import { type Static, Type } from '@sinclair/typebox'
import type { EventDescriptions, ServerEvents } from '../../core/sockets/sockets.ts'
import { InstallRequestSchema, type InstallRequestView } from './schemas.ts'

const InstallPlaceSchema = Type.Object({ id: Type.String({ format: 'uuid' }), rom_id: Type.Integer() }, { title: 'InstallPlace' })
type InstallPlace = Static<typeof InstallPlaceSchema>

declare module '../../core/sockets/sockets.ts' {
  interface ServerEvents { 'install:updated': InstallRequestView }
}

declare module '../devices/events.ts' {
  interface DeviceEvents {
    'install:queued': InstallPlace
    'install:cancelled': InstallPlace
  }
}

export const installEvents: EventDescriptions<ServerEvents> = {
  'install:updated': { summary: 'A request to install a ROM changed its status', schema: InstallRequestSchema }
}

export const deviceInstallEvents = {
  'install:queued': { summary: 'A ROM waits to be installed', schema: InstallPlaceSchema },
  'install:cancelled': { summary: 'The installation of a ROM was cancelled', schema: InstallPlaceSchema }
}
