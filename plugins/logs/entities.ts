import { type InferEntity, defineEntity, p } from '@mikro-orm/core'
import { columns } from '../../core/database/columns.ts'

/**
 * One of the newest lines of the log. The table is unlogged, because nothing depends on it: a database crash empties
 * it.
 */
export const LogLine = defineEntity({
  name: 'LogLine',
  tableName: 'log_lines',
  properties: {
    id: p.bigint('number').primary(),
    /** Milliseconds since 1970. */
    ts: p.bigint('number'),
    level: columns.text(),
    module: columns.text(),
    message: columns.text()
  }
})
export type LogLine = InferEntity<typeof LogLine>
