import { type Static, Type } from '@sinclair/typebox'
import { ID_MAX, StringEnum } from '../../core/typebox.ts'

export const LOG_LEVELS = ['DEBUG', 'INFO', 'WARNING', 'ERROR', 'CRITICAL'] as const

export const LogEntrySchema = Type.Object({
  ts: Type.Integer({ description: 'Milliseconds since 1970' }),
  level: StringEnum(LOG_LEVELS),
  module: Type.String({ description: 'The process, or the plugin' }),
  message: Type.String({ description: 'Without colours and secrets' })
}, { title: 'LogEntry' })
export type LogEntry = Static<typeof LogEntrySchema>

/** The number of newest lines that the server stores. */
export const LINES_MAX = 1_000
export const LogsQuery = Type.Object({
  limit: Type.Integer({ default: LINES_MAX, maximum: ID_MAX, description: `Number of lines, limited to 1 to ${LINES_MAX}` })
})
