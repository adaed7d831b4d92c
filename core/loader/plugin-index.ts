import type { Index, IndexEntry } from '@svc/plugin-sdk'
import { inTransaction } from '../database/transaction.ts'
import type { Db } from '../database/db.ts'
import { PluginAnswerError } from './answer-error.ts'
import type { CallScope } from './call-scope.ts'

/** Returns the entries of the plugin's index, in batches. */
export type BuildIndex = (scope: CallScope) => AsyncIterable<readonly IndexEntry[]>

export interface HostIndex extends Index {
  /** Builds a new index and replaces the former one, unless it is empty. @returns the number of entries */
  rebuild (scope: CallScope): Promise<number>
}

/** The most rows of one insert. */
const ROWS_MAX = 5_000
/** PostgreSQL allows at most a third of a page of 8 KiB per index entry. */
const KEY_MAX_CHARACTERS = 600
/**
 * Separates texts that are sent together. JSON does not contain it, and one long text is parsed faster than an array.
 */
const SEPARATOR = '\x01'
/** The most keys of one query. Lookups that wait meanwhile share the next query. */
const KEYS_MAX = 1_000
/** The most table swaps in a row between finding the table's name and the query. */
const SWAPS_MAX = 20
/** The table was replaced by a newer one between finding its name and the query. */
const UNDEFINED_TABLE = '42P01'

const tableOf = (generation: number) => `"plugin_index_${generation}"`

const isUsable = (key: string) => key.length <= KEY_MAX_CHARACTERS && !key.includes(SEPARATOR) && !key.includes('\0')

type Rows = ReadonlyMap<string, readonly unknown[]>
interface WaitingLookup { keys: readonly string[], resolve (rows: Rows): void, reject (err: unknown): void }

/** The index of a plugin that declares none. */
export const NO_INDEX: HostIndex = {
  getMany: async () => { throw new Error('This plugin declares no index; add one to its definition to use ctx.index') },
  builtAt: async () => undefined,
  rebuild: async () => 0
}

/**
 * A plugin's local index. Each build has its own table: lookups continue on the former one while the new one is filled,
 * and the next build drops the table of a killed one. Lookups that arrive during a query share the next one.
 *
 * @param scopeOfFirst the scope of the first build, which starts at the first lookup
 */
export function createIndex (
  db: Db, plugin: string, build: BuildIndex, scopeOfFirst: () => CallScope
): HostIndex {
  let building: Promise<number> | null = null
  /** The table that was current at the last lookup. */
  let table: string | null = null
  const waiting: WaitingLookup[] = []
  let isAnswering = false

  async function readCurrent (): Promise<{ generation: number, built_at: Date } | null> {
    const { rows } = await db.query<{ generation: number, built_at: Date }>(
      'select generation, built_at from plugin_indexes where plugin = $1 and built_at is not null', [plugin])
    return rows[0] ?? null
  }

  async function write (table: string, rows: readonly IndexEntry[], first: number): Promise<void> {
    const keys = rows.map(([key]) => key).join(SEPARATOR)
    const values = rows.map(([, value]) => JSON.stringify(value ?? null)).join(SEPARATOR)
    await db.query(`insert into ${table} (position, key, value)
      select $1::int + n, key, value
      from unnest(string_to_array($2, $4), string_to_array($3, $4)) with ordinality as e(key, value, n)`,
    [first, keys, values, SEPARATOR])
  }

  /** Fills a table. While some rows are written, the plugin prepares the next ones. */
  async function fill (table: string, scope: CallScope): Promise<number> {
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
      writing = write(table, rows, count)
      // Awaited before the next write, which then throws its error.
      writing.catch(() => {})
      count += rows.length
      rows = []
      if (!isReported) scope.report?.({ done: count })
    }
    for await (const batch of build({ ...scope, report })) {
      scope.signal.throwIfAborted()
      for (const entry of batch) if (isUsable(entry[0])) rows.push(entry)
      if (rows.length >= ROWS_MAX) await flush()
    }
    if (rows.length > 0) await flush()
    await writing
    return count
  }

  async function swap (generation: number): Promise<void> {
    await inTransaction(db, async (tx) => {
      const { rows } = await tx.query<{ generation: number }>(
        'select generation from plugin_indexes where plugin = $1 and generation <> $2', [plugin, generation])
      for (const former of rows) await tx.query(`drop table if exists ${tableOf(former.generation)}`)
      await tx.query('delete from plugin_indexes where plugin = $1 and generation <> $2', [plugin, generation])
      await tx.query('update plugin_indexes set built_at = now() where generation = $1', [generation])
    })
  }

  async function drop (generation: number): Promise<void> {
    await db.query(`drop table if exists ${tableOf(generation)}`)
    await db.query('delete from plugin_indexes where generation = $1', [generation])
  }

  async function run (scope: CallScope): Promise<number> {
    const { rows: [row] } = await db.query<{ generation: number }>(
      'insert into plugin_indexes (plugin) values ($1) returning generation', [plugin])
    const generation = row?.generation ?? 0
    const table = tableOf(generation)
    try {
      await db.query(`create table ${table} (position int not null, key text not null, value text not null)`)
      const count = await fill(table, scope)
      if (count === 0) {
        await drop(generation)
        return count
      }
      await db.query(`create index on ${table} (key)`)
      await db.query(`analyze ${table}`)
      await swap(generation)
      return count
    } catch (err) {
      await drop(generation)
      throw err
    }
  }

  function rebuild (scope: CallScope): Promise<number> {
    building ??= run(scope).finally(() => { building = null })
    return building
  }

  async function findTable (): Promise<string> {
    const current = await readCurrent()
    if (current !== null) return tableOf(current.generation)
    await rebuild(scopeOfFirst())
    const built = await readCurrent()
    if (built === null) throw new PluginAnswerError(`The index of ${plugin} is empty, because its build returned no entry; check the configuration of the plugin`)
    return tableOf(built.generation)
  }

  async function select (keys: readonly string[], retries: number): Promise<Rows> {
    table ??= await findTable()
    try {
      const { rows } = await db.query<{ key: string, value: string }>(
        `select key, value from ${table} where key = any($1::text[]) order by position`, [keys])
      const found = Map.groupBy(rows, ({ key }) => key)
      return new Map(
        [...found].map(([key, rowsOfKey]) => [key, rowsOfKey.map(({ value }) => JSON.parse(value) as unknown)])
      )
    } catch (err) {
      const isSwapped = (err as { code?: unknown }).code === UNDEFINED_TABLE
      if (!isSwapped || retries === 0) throw err
      table = null
      return await select(keys, retries - 1)
    }
  }

  /** Takes as many waiting lookups as fit into one query. */
  function takeBatch (): WaitingLookup[] {
    let keys = 0
    const end = waiting.findIndex((one) => (keys += one.keys.length) > KEYS_MAX)
    return waiting.splice(0, end === -1 ? waiting.length : Math.max(1, end))
  }

  async function answerWaiting (): Promise<void> {
    isAnswering = true
    while (waiting.length > 0) {
      const batch = takeBatch()
      try {
        const rows = await select([...new Set(batch.flatMap(({ keys }) => keys))], SWAPS_MAX)
        for (const { keys, resolve } of batch) {
          resolve(new Map(keys.flatMap((key) => rows.has(key) ? [[key, rows.get(key) ?? []]] : [])))
        }
      } catch (err) {
        for (const { reject } of batch) reject(err)
      }
    }
    isAnswering = false
  }

  return {
    rebuild,
    getMany: (keys) => new Promise((resolve, reject) => {
      waiting.push({ keys: keys.filter(isUsable), resolve, reject })
      if (!isAnswering) void answerWaiting()
    }),
    builtAt: async () => (await readCurrent())?.built_at.getTime()
  }
}
