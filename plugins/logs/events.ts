import type { EventDescriptions, ServerEvents } from '../../core/sockets/sockets.ts'
import { type LogEntry, LogEntrySchema } from './schemas.ts'

declare module '../../core/sockets/sockets.ts' {
  interface ServerEvents { 'logs:entry': LogEntry }
}

export const logEvents: EventDescriptions<ServerEvents> = {
  'logs:entry': { summary: 'A line of the log, for administrators', schema: LogEntrySchema }
}
