import type { InstallRequestView } from './schemas.ts'

interface InstallPlace { id: string, rom_id: number }

declare module '../../core/sockets/sockets.ts' {
  interface ServerEvents { 'install:updated': InstallRequestView }
}

declare module '../devices/events.ts' {
  interface DeviceEvents {
    'install:queued': InstallPlace
    'install:cancelled': InstallPlace
  }
}
