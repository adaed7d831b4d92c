import { defineEntity, p } from '@mikro-orm/core'
import { columns } from '../../core/database/columns.ts'

/**
 * A library of the configuration. Its row stays after its removal from the configuration. A library that returns then
 * gets its id again, and with the id its former content.
 */
export const Library = defineEntity({
  name: 'Library',
  tableName: 'libraries',
  properties: {
    id: p.integer().primary().autoincrement(false),
    name: columns.text(),
    root: columns.text(),
    /** The last scan of the library, and the reason if that scan could not read it. */
    scan_id: p.uuid().nullable(),
    scanned_at: columns.time().nullable(),
    problem: columns.text().nullable()
  }
})

/**
 * Counters of changes to the library and to the marks of each user. The version of a kind is the sum over its rows. The
 * database counts, once per transaction that changes something.
 */
export const LibraryVersion = defineEntity({
  name: 'LibraryVersion',
  tableName: 'library_versions',
  indexes: [{ properties: ['user_id', 'kind'] }],
  properties: {
    id: columns.id(),
    kind: columns.text(),
    /** 0 for changes that concern all users. Rows of deleted accounts stay, because user ids are never reused. */
    user_id: p.integer(),
    version: p.bigint('number')
  }
})

/**
 * The ROMs that a statement changed: their rows, matches, dumps, or who sees them. The database writes these rows, from
 * which cached lists are updated. Rows are deleted after a day.
 */
export const RomChange = defineEntity({
  name: 'RomChange',
  tableName: 'rom_changes',
  properties: {
    id: columns.id(),
    /** The transaction, which tells readers whether their snapshot contains the change. */
    xid: p.bigint('number').index(),
    /** Null if the statement changed too many ROMs. */
    rom_ids: p.array().columnType('int[]').nullable(),
    /** Identities that ROMs lost, as `<provider>:<id>`, with which their former siblings are found. */
    games: columns.texts(),
    created_at: columns.createdAt()
  }
})

const CHANGES = ['insert', 'update', 'delete'] as const

/** Creates a trigger that counts each statement that changes a table. */
export const countChanges = (table: string, what: 'library' | 'assets' | 'collections' = 'library') => ({
  name: 'note_change',
  timing: 'after' as const,
  events: [...CHANGES],
  forEach: 'statement' as const,
  expression: `create trigger note_change after ${CHANGES.join(' or ')} on "${table}" for each statement ` +
    `execute function note_${what}_change()`
})

const TRANSITIONS = {
  insert: 'new table as added', update: 'old table as removed new table as added', delete: 'old table as removed'
}

/** Creates triggers that run a function once per statement. */
export const statementTriggers = (
  table: string, run: string, events: readonly (typeof CHANGES)[number][] = CHANGES
) => events.map((event) => ({
  name: `${run}_${event}`,
  timing: 'after' as const,
  events: [event],
  forEach: 'statement' as const,
  expression: `create trigger ${run}_${event} after ${event} on "${table}" referencing ${TRANSITIONS[event]} ` +
    `for each statement execute function ${run}()`
}))
