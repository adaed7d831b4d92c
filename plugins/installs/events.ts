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
  'install:updated': { summary: 'A request to install a ROM is at another point', schema: InstallRequestSchema }
}

export const deviceInstallEvents = {
  'install:queued': { summary: 'There is a ROM to install', schema: InstallPlaceSchema },
  'install:cancelled': { summary: 'A ROM is not to be installed any more', schema: InstallPlaceSchema }
}
