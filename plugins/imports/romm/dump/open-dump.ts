import { join } from 'node:path'
import { DatabaseSync, type SQLOutputValue, type StatementSync } from 'node:sqlite'
import { requireFreeSpace } from '../../../../core/files/free-space.ts'
import { type ImporterContext, SourceError } from '../../contract.ts'
import { createTableReader, type TableReader } from '../tables/table-rows.ts'
import { checkEnd, detectDialect, openDumpText } from './open-text.ts'
import { type Column, type DumpHandlers, DumpParser } from './parser.ts'
import type { Dialect } from './tokens.ts'

/** The tables that an import reads. */
const TABLES = new Set(['alembic_version', 'users', 'permission_groups', 'permission_group_grants',
  'user_permission_overrides', 'hidden_entities', 'platforms', 'roms', 'rom_files', 'rom_user', 'rom_notes', 'devices',
  'saves', 'states', 'screenshots', 'device_save_sync', 'sync_sessions', 'play_sessions', 'client_tokens', 'collections',
  'collections_roms', 'smart_collections', 'music_playlists', 'music_playlist_tracks', 'music_favorite_tracks'])
/** Columns by which rows are ordered or looked up. In other columns a number is text, because `007` is an id too. */
const KEYS = new Set(['id', 'user_id', 'rom_id', 'group_id', 'save_id', 'collection_id', 'playlist_id', 'rom_file_id'])
const INTEGER_TYPE = /int|serial/
/** Raw answers of providers, which fill most of a dump and are never read. */
const UNUSED = /^(?:igdb|moby|ra|hasheous|flashpoint|hltb|steam|demozoo|pouet|csdb)_metadata$|^generated_/
/** Free space is checked each time after so many characters. */
const CHECK_CHARACTERS = 64 * 1024 * 1024

/** Enough for the last comments of a dump. */
const END_CHARACTERS = 1_000

const quote = (name: string) => `"${name.replaceAll('"', '""')}"`

/**
 * Reads a dump into a temporary SQLite file, which gives its rows by key as a server would, with bounded memory.
 *
 * @throws SourceError
 */
export async function openDump (path: string, { workFolder, signal }: ImporterContext): Promise<TableReader> {
  const database = new DatabaseSync(join(workFolder, 'dump.sqlite'))
  try {
    database.exec('pragma journal_mode = off; pragma synchronous = off; pragma locking_mode = exclusive; begin')
    const stage = createStage(database)
    const dialect = await load(openDumpText(path, signal), stage, workFolder, signal)
    database.exec('commit')
    stage.createIndexes()
    return createStageReader(database, stage.columns, `a dump of ${dialect === 'mysql' ? 'MariaDB or MySQL' : 'PostgreSQL'}`)
  } catch (err) {
    database.close()
    throw err
  }
}

async function load (
  chunks: AsyncIterable<string>, stage: DumpHandlers, workFolder: string, signal: AbortSignal
): Promise<Dialect> {
  const { dialect, start, text } = await readStart(chunks)
  const parser = new DumpParser(dialect, stage)
  let characters = 0
  let end = ''
  for await (const chunk of text) {
    signal.throwIfAborted()
    characters += chunk.length
    if (characters >= CHECK_CHARACTERS) {
      await requireFreeSpace(workFolder, characters)
      characters = 0
    }
    parser.write(chunk)
    end = (end + chunk).slice(-END_CHARACTERS)
  }
  parser.end()
  checkEnd(dialect, start, end)
  return dialect
}

/** Reads the first chunk for the dialect; the text begins with it again. */
async function readStart (chunks: AsyncIterable<string>) {
  const iterator = chunks[Symbol.asyncIterator]()
  const first = await iterator.next()
  const start = first.done === true ? '' : first.value
  async function * text () {
    yield start
    yield * { [Symbol.asyncIterator]: () => iterator }
  }
  return { dialect: detectDialect(start), start, text: text() }
}

interface Stage extends DumpHandlers {
  columns: Map<string, Set<string>>
  createIndexes (): void
}

function createStage (database: DatabaseSync): Stage {
  const columns = new Map<string, Set<string>>()
  const inserts = new Map<string, { statement: StatementSync, used: number[] }>()

  function prepare (table: string, names: readonly string[]) {
    const known = columns.get(table) ?? new Set<string>()
    const used = names.map((_, index) => index).filter((index) => known.has(names[index] ?? ''))
    const listed = used.map((index) => quote(names[index] ?? ''))
    const statement = database.prepare(
      `insert into ${quote(table)} (${listed.join(', ')}) values (${listed.map(() => '?').join(', ')})`)
    return { statement, used }
  }

  return {
    columns,
    wants: (table) => TABLES.has(table),

    onTable (table, definition) {
      const kept = definition.filter(({ name }) => !UNUSED.test(name))
      attempt(() => { database.exec(`create table ${quote(table)} (${kept.map(toSqlite).join(', ')})`) }, table)
      columns.set(table, new Set(kept.map(({ name }) => name)))
    },

    onRow (table, names, values) {
      const key = `${table} ${names.join(' ')}`
      const insert = inserts.get(key) ?? attempt(() => prepare(table, names), table)
      inserts.set(key, insert)
      insert.statement.run(...insert.used.map((index) => values[index] ?? null))
    },

    createIndexes () {
      for (const [table, names] of columns) {
        for (const name of names) if (KEYS.has(name)) database.exec(`create index ${quote(`${table} ${name}`)} on ${quote(table)} (${quote(name)})`)
      }
    }
  }
}

function toSqlite ({ name, type }: Column): string {
  const isNumber = KEYS.has(name) && (type === '' || INTEGER_TYPE.test(type))
  return `${quote(name)} ${isNumber ? 'integer' : 'text'}`
}

function attempt<T> (run: () => T, table: string): T {
  try {
    return run()
  } catch (err) {
    throw new SourceError(`The table ${table} of the dump is not understood: ${(err as Error).message}. ` +
      'Make the dump again with mysqldump, mariadb-dump or pg_dump', { cause: err })
  }
}

function createStageReader (
  database: DatabaseSync, columns: ReadonlyMap<string, ReadonlySet<string>>, title: string
): TableReader {
  return createTableReader({
    title,
    columns,
    quote,
    placeholder: () => '?',
    async query (sql, values) {
      const statement = database.prepare(sql)
      statement.setReadBigInts(true)
      return statement.all(...values).map(toText)
    },
    async close () { database.close() }
  })
}

function toText (row: Readonly<Record<string, SQLOutputValue>>): Record<string, string | null> {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, value?.toString() ?? null]))
}
