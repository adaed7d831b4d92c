import type { IndexEntry } from '@svc/plugin-sdk'
import type { Db } from '../../database/db.ts'
import type { CallScope } from '../calls/call-scope.ts'
import { addGeneration, dropGeneration, insertEntries, isUsable, makeCurrent, tableOf } from './index-table.ts'

/** Returns the entries of the plugin's index, in batches. */
export type ReadIndexEntries = (scope: CallScope) => AsyncIterable<readonly IndexEntry[]>

/** The most rows of one insert. */
const ROWS_MAX = 5_000

/** Fills a table. While some rows are written, the plugin prepares the next ones. @returns the number of rows */
async function fillTable (db: Db, table: string, readEntries: ReadIndexEntries, scope: CallScope): Promise<number> {
  let count = 0
  let rows: IndexEntry[] = []
  let writing: Promise<void> = Promise.resolve()
  let isReported = false
  const report: CallScope['report'] = (progress) => {
    isReported = true
    scope.report?.(progress)
  }
  async function flush (): Promise<void> {
    await writing
    writing = insertEntries(db, table, rows, count)
    // `flush` awaits it later and throws its error. This handler avoids an unhandled rejection until then.
    writing.catch(() => {})
    count += rows.length
    rows = []
    if (!isReported) scope.report?.({ done: count })
  }
  for await (const batch of readEntries({ ...scope, report })) {
    scope.signal.throwIfAborted()
    for (const entry of batch) if (isUsable(entry[0])) rows.push(entry)
    if (rows.length >= ROWS_MAX) await flush()
  }
  if (rows.length > 0) await flush()
  await writing
  return count
}

/** Builds a new index, which replaces the former one unless the new one is empty. @returns the number of entries */
export async function buildIndex (
  db: Db, plugin: string, readEntries: ReadIndexEntries, scope: CallScope
): Promise<number> {
  const generation = await addGeneration(db, plugin)
  const table = tableOf(generation)
  try {
    await db.query(`create table ${table} (position int not null, key text not null, value text not null)`)
    const count = await fillTable(db, table, readEntries, scope)
    if (count === 0) {
      await dropGeneration(db, generation)
      return count
    }
    await db.query(`create index on ${table} (key)`)
    await db.query(`analyze ${table}`)
    await makeCurrent(db, plugin, generation)
    return count
  } catch (err) {
    await dropGeneration(db, generation)
    throw err
  }
}
