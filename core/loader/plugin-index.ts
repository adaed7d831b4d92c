import type { Index, IndexEntry } from '@svc/plugin-sdk'
import type pg from 'pg'
import { toDatabaseJson } from '../database/json.ts'
import type { CallScope } from './context.ts'
import { transaction } from '../database/transaction.ts'

/** What the plugin gives for its index, in batches. */
export type BuildIndex = (scope: CallScope) => AsyncIterable<readonly IndexEntry[]>

export interface HostIndex extends Index {
  /** Builds it anew and swaps it for the one before. @returns how many entries it has */
  rebuild (scope: CallScope): Promise<number>
}

/** Rows that go to the database together. */
const ROWS_MAX = 5_000
/** PostgreSQL keeps at most a third of a page of 8 KiB in an index. */
const KEY_MAX_CHARACTERS = 600
/** The table was swapped for a newer one between looking up its name and asking it. */
const UNDEFINED_TABLE = '42P01'

const tableOf = (generation: number) => `"plugin_index_${generation}"`

/** Of a plugin that declares none. */
export const NO_INDEX: HostIndex = {
  getMany: async () => { throw new Error('This plugin declares no index; add one to its definition to use ctx.index') },
  builtAt: async () => undefined,
  rebuild: async () => 0
}

/**
 * A plugin's local index: a table for each build, so that lookups go on while a new one is filled, and what a killed
 * build left is dropped by the next.
 *
 * @param scopeOfFirst what the first build runs under, which begins when the index is first asked
 */
export function createIndex (
  pool: pg.Pool, plugin: string, build: BuildIndex, scopeOfFirst: () => CallScope
): HostIndex {
  let building: Promise<number> | null = null

  async function readCurrent (): Promise<{ generation: number, built_at: Date } | null> {
    const { rows } = await pool.query<{ generation: number, built_at: Date }>(
      'select generation, built_at from plugin_indexes where plugin = $1 and built_at is not null', [plugin])
    return rows[0] ?? null
  }

  async function fill (table: string, scope: CallScope): Promise<number> {
    let count = 0
    let rows: IndexEntry[] = []
    async function write (): Promise<void> {
      const keys = rows.map(([key]) => key)
      const values = rows.map(([, value]) => toDatabaseJson(value ?? null))
      await pool.query(`insert into ${table} (position, key, value)
        select $1::int + n, key, value from unnest($2::text[], $3::jsonb[]) with ordinality as e(key, value, n)`,
      [count, keys, values])
      count += rows.length
      rows = []
      scope.report?.({ done: count })
    }
    for await (const batch of build(scope)) {
      scope.signal.throwIfAborted()
      rows.push(...batch.filter(([key]) => key.length <= KEY_MAX_CHARACTERS))
      if (rows.length >= ROWS_MAX) await write()
    }
    if (rows.length > 0) await write()
    return count
  }

  async function swap (generation: number): Promise<void> {
    await transaction(pool, async (client) => {
      const { rows } = await client.query<{ generation: number }>(
        'select generation from plugin_indexes where plugin = $1 and generation <> $2', [plugin, generation])
      for (const old of rows) await client.query(`drop table if exists ${tableOf(old.generation)}`)
      await client.query('delete from plugin_indexes where plugin = $1 and generation <> $2', [plugin, generation])
      await client.query('update plugin_indexes set built_at = now() where generation = $1', [generation])
    })
  }

  async function run (scope: CallScope): Promise<number> {
    const { rows: [row] } = await pool.query<{ generation: number }>(
      'insert into plugin_indexes (plugin) values ($1) returning generation', [plugin])
    const generation = row?.generation ?? 0
    const table = tableOf(generation)
    try {
      await pool.query(`create table ${table} (position int not null, key text not null, value jsonb not null)`)
      const count = await fill(table, scope)
      await pool.query(`create index on ${table} (key)`)
      await pool.query(`analyze ${table}`)
      await swap(generation)
      return count
    } catch (err) {
      await pool.query(`drop table if exists ${table}`)
      await pool.query('delete from plugin_indexes where generation = $1', [generation])
      throw err
    }
  }

  function rebuild (scope: CallScope): Promise<number> {
    building ??= run(scope).finally(() => { building = null })
    return building
  }

  async function currentTable (): Promise<string> {
    const known = await readCurrent()
    if (known !== null) return tableOf(known.generation)
    await rebuild(scopeOfFirst())
    const built = await readCurrent()
    if (built === null) throw new Error(`The index of ${plugin} was built and is not there`)
    return tableOf(built.generation)
  }

  async function lookUp (keys: readonly string[], tries: number): Promise<{ key: string, value: unknown }[]> {
    const table = await currentTable()
    try {
      const { rows } = await pool.query<{ key: string, value: unknown }>(
        `select key, value from ${table} where key = any($1::text[]) order by position`, [keys])
      return rows
    } catch (err) {
      const isSwapped = (err as { code?: unknown }).code === UNDEFINED_TABLE
      if (!isSwapped || tries === 0) throw err
      return await lookUp(keys, tries - 1)
    }
  }

  return {
    rebuild,
    async getMany (keys) {
      const found = Map.groupBy(await lookUp(keys, 1), ({ key }) => key)
      return new Map([...found].map(([key, rows]) => [key, rows.map(({ value }) => value)]))
    },
    builtAt: async () => (await readCurrent())?.built_at.getTime()
  }
}
