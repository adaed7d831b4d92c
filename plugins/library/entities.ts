import { defineEntity, p } from '@mikro-orm/core'
import { columns } from '../../core/database/columns.ts'

/**
 * A root folder as the configuration names it. Its row stays when it is taken out, so that it comes back under its id,
 * and with it what lay in it.
 */
export const Library = defineEntity({
  name: 'Library',
  tableName: 'libraries',
  properties: {
    id: p.integer().primary().autoincrement(false),
    name: columns.text(),
    root: columns.text(),
    /** The last scan of it, and why that could not read it. */
    scan_id: p.uuid().nullable(),
    scanned_at: columns.time().nullable(),
    problem: columns.text().nullable()
  }
})

/**
 * How often the library changed, and the marks of each user: the sum over all rows of a kind. The database counts by
 * itself, with each transaction that changes something.
 */
export const LibraryVersion = defineEntity({
  name: 'LibraryVersion',
  tableName: 'library_versions',
  indexes: [{ properties: ['user_id', 'kind'] }],
  properties: {
    id: columns.id(),
    kind: columns.text(),
    /** 0 for what concerns everybody. Rows of accounts that are gone stay, since ids never come again. */
    user_id: p.integer(),
    version: p.bigint('number')
  }
})

const CHANGES = ['insert', 'update', 'delete'] as const

/** Has each statement that changes a table counted. */
export const countChanges = (table: string, what: 'library' | 'assets' | 'collections' = 'library') => ({
  name: 'note_change',
  timing: 'after' as const,
  events: [...CHANGES],
  forEach: 'statement' as const,
  expression: `create trigger note_change after ${CHANGES.join(' or ')} on "${table}" for each statement ` +
    `execute function note_${what}_change()`
})
