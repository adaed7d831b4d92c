import type { LogEntry } from './schemas.ts'

declare module '../../core/sockets/sockets.ts' {
  interface ServerEvents { 'logs:entry': LogEntry }
}
