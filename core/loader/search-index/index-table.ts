import type { IndexEntry } from '@svc/plugin-sdk'
import type { Db } from '../../database/db.ts'
import { inTransaction } from '../../database/transaction.ts'
import { errorCode } from '../../files/fs-error.ts'

// Each build of an index has its own table, whose name contains the number of the build.

/** The values of each key. */
export type IndexRows = ReadonlyMap<string, readonly unknown[]>

/** PostgreSQL allows at most a third of a page of 8 KiB per index entry. */
const KEY_MAX_CHARACTERS = 600
/**
 * Separates texts that are sent together. JSON does not contain it, and one long text is parsed faster than an array.
 */
const SEPARATOR = '\x01'
/** The table was replaced by a newer one between finding its name and the query. */
const UNDEFINED_TABLE = '42P01'

export const tableOf = (generation: number) => `"plugin_index_${generation}"`

/** True if an index can contain the key. */
export const isUsable = (key: string) => key.length <= KEY_MAX_CHARACTERS && !key.includes(SEPARATOR) && !key.includes('\0')

/** True if a query failed because a newer table replaced its own. */
export const isReplaced = (err: unknown) => errorCode(err) === UNDEFINED_TABLE

/** Returns the last complete build of a plugin's index; null if there is none. */
export async function readCurrent (db: Db, plugin: string): Promise<{ generation: number, built_at: Date } | null> {
  const { rows } = await db.query<{ generation: number, built_at: Date }>(
    'select generation, built_at from plugin_indexes where plugin = $1 and built_at is not null', [plugin])
  return rows[0] ?? null
}

/** Registers a new build. @returns its number */
export async function addGeneration (db: Db, plugin: string): Promise<number> {
  const { rows: [row] } = await db.query<{ generation: number }>(
    'insert into plugin_indexes (plugin) values ($1) returning generation', [plugin])
  return row?.generation ?? 0
}

/** @param first the position of the first entry */
export async function insertEntries (
  db: Db, table: string, entries: readonly IndexEntry[], first: number
): Promise<void> {
  const keys = entries.map(([key]) => key).join(SEPARATOR)
  const values = entries.map(([, value]) => JSON.stringify(value ?? null)).join(SEPARATOR)
  await db.query(`insert into ${table} (position, key, value)
    select $1::int + n, key, value
    from unnest(string_to_array($2, $4), string_to_array($3, $4)) with ordinality as e(key, value, n)`,
  [first, keys, values, SEPARATOR])
}

/** Makes a build the current one, and deletes all others of the plugin. */
export async function makeCurrent (db: Db, plugin: string, generation: number): Promise<void> {
  await inTransaction(db, async (tx) => {
    const { rows } = await tx.query<{ generation: number }>(
      'select generation from plugin_indexes where plugin = $1 and generation <> $2', [plugin, generation])
    for (const former of rows) await tx.query(`drop table if exists ${tableOf(former.generation)}`)
    await tx.query('delete from plugin_indexes where plugin = $1 and generation <> $2', [plugin, generation])
    await tx.query('update plugin_indexes set built_at = now() where generation = $1', [generation])
  })
}

export async function dropGeneration (db: Db, generation: number): Promise<void> {
  await db.query(`drop table if exists ${tableOf(generation)}`)
  await db.query('delete from plugin_indexes where generation = $1', [generation])
}

export async function selectRows (db: Db, table: string, keys: readonly string[]): Promise<IndexRows> {
  const { rows } = await db.query<{ key: string, value: string }>(
    `select key, value from ${table} where key = any($1::text[]) order by position`, [keys])
  const found = Map.groupBy(rows, ({ key }) => key)
  return new Map(
    [...found].map(([key, rowsOfKey]) => [key, rowsOfKey.map(({ value }) => JSON.parse(value) as unknown)])
  )
}
