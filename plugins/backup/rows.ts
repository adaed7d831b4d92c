import { pipeline } from 'node:stream/promises'
import pg from 'pg'
import { from, to } from 'pg-copy-streams'
import { inClientTransaction } from '../../core/database/client-transaction.ts'
import { listExecuted } from '../../core/database/database.ts'
import { withSession } from '../../core/database/session.ts'
import type { Manifest, TableDescription } from './archive/manifest.ts'

/**
 * Tables with transient state or recreated data: sessions of processes, caches, indexes of plugins, and the settings
 * that hosts recreate from `config.yml`.
 */
const SKIPPED_TABLES = ['migrations', 'workers', 'socket_io_attachments', 'plugin_cache', 'plugin_indexes', 'plugin_snapshots',
  'device_presences', 'activity_entries', 'shared_settings']
/**
 * The key of the advisory lock on backups: a number that nothing else uses. It allows one backup of a database at a
 * time.
 */
const BACKUP_LOCK = 7_364_122
const CHECK_PREFIX = 'svc_backup_check_'

const quote = (name: string) => pg.escapeIdentifier(name)

/** Runs work on one connection without time limits. Its settings make the text of values the same on every machine. */
export const withClient = <T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> => withSession({
  connectionString: url, application_name: 'svc backup', keepAlive: true
}, async (client) => {
  await client.query("set timezone = 'UTC'; set datestyle = 'ISO'; set intervalstyle = 'postgres'; set extra_float_digits = 1; " +
    'set statement_timeout = 0; set idle_in_transaction_session_timeout = 0')
  return await work(client)
})

/** Claims the lock on backups until the connection ends. @returns true if nobody else holds it */
export async function claimBackup (client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ mine: boolean }>('select pg_try_advisory_lock($1) as mine', [BACKUP_LOCK])
  return rows[0]?.mine === true
}

/** Begins a snapshot: all following statements see the database as it is now. */
export const beginSnapshot = (client: pg.Client) => client.query('begin transaction isolation level repeatable read, read only')
export const endSnapshot = (client: pg.Client) => client.query('commit')

const COLUMNS = `select c.relname::text as name, array_agg(a.attname::text order by a.attnum) as columns
  from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
  where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace and c.relname <> all($1) and c.relname !~ '^plugin_index_\\d+$'
  group by c.relname order by c.relname`

type DatabaseFacts = Pick<Manifest, 'identity' | 'migrations' | 'postgresql' | 'tables' | 'sequences'>

/** Returns the facts of the database for the manifest. */
export async function describeDatabase (client: pg.Client): Promise<DatabaseFacts> {
  const tables = (await client.query<TableDescription>(COLUMNS, [SKIPPED_TABLES])).rows
  const sequences = (await client.query<{ name: string, value: string }>(`select sequencename::text as name, last_value::text as value
    from pg_sequences where schemaname = current_schema() and last_value is not null order by 1`)).rows
  const version = (await client.query<{ server_version: string }>('show server_version')).rows[0]?.server_version ?? ''
  const hasIdentity = tables.some(({ name }) => name === 'installation')
  const found = hasIdentity
    ? (await client.query<{ identity: string }>('select identity::text from installation')).rows[0]
    : undefined
  const migrations = await listExecuted(client)
  return { identity: found?.identity ?? null, migrations, postgresql: version, tables, sequences }
}

/** Returns the size of the backed-up tables in bytes: of the rows alone, and with their indexes. */
export async function measureTables (client: pg.Client): Promise<{ rows: number, whole: number }> {
  const { rows: [size] } = await client.query<{ rows: string, whole: string }>(`select
    coalesce(sum(pg_table_size(oid)), 0)::text as rows, coalesce(sum(pg_total_relation_size(oid)), 0)::text as whole
    from pg_class where relkind = 'r' and relnamespace = current_schema()::regnamespace and relname <> all($1)`, [SKIPPED_TABLES])
  return { rows: Number(size?.rows), whole: Number(size?.whole) }
}

const target = ({ name, columns }: TableDescription) => `${quote(name)} (${columns.map(quote).join(', ')})`

/**
 * Returns the rows of a table as text, which every version of PostgreSQL reads, and their number after all were read.
 */
export function copyOut (client: pg.Client, table: TableDescription) {
  const stream = client.query(to(`copy ${target(table)} to stdout`))
  return { content: stream as AsyncIterable<Buffer>, countRows: () => stream.rowCount }
}

/** Adds whole rows. @returns their number */
export async function copyIn (
  client: pg.Client, table: TableDescription, content: AsyncIterable<Uint8Array>
): Promise<number> {
  const stream = client.query(from(`copy ${target(table)} from stdin`))
  await pipeline(content, stream)
  return stream.rowCount
}

export interface ForeignKey { table_name: string, name: string, definition: string }

const FOREIGN_KEYS = `select conrelid::regclass::text as table_name, conname::text as name, pg_get_constraintdef(oid) as definition
  from pg_constraint where contype = 'f' and connamespace = current_schema()::regnamespace order by 1, 2`

/**
 * Empties a database that was just migrated, and removes its foreign keys and triggers, which needs only the rights of
 * its owner. Everything up to `closeDatabase` is one transaction.
 */
export async function openForRows (client: pg.Client, tables: readonly TableDescription[]): Promise<ForeignKey[]> {
  // Rows are read back in the order in which they were written.
  await client.query('begin; set local synchronize_seqscans = off')
  const { rows: keys } = await client.query<ForeignKey>(FOREIGN_KEYS)
  for (const { table_name: table, name } of keys) await client.query(`alter table ${table} drop constraint ${quote(name)}`)
  for (const { name } of tables) await client.query(`alter table ${quote(name)} disable trigger user`)
  if (tables.length > 0) await client.query(`truncate ${tables.map(({ name }) => quote(name)).join(', ')}`)
  return keys
}

/** Restores keys and triggers, which checks every row, and sets the sequences of ids. */
export async function closeDatabase (
  client: pg.Client, { tables, sequences }: Manifest, keys: readonly ForeignKey[]
): Promise<void> {
  for (const { name } of tables) await client.query(`alter table ${quote(name)} enable trigger user`)
  for (const { table_name: table, name, definition } of keys) {
    await client.query(`alter table ${table} add constraint ${quote(name)} ${definition}`)
  }
  for (const { name, value } of sequences) {
    await client.query('select setval(to_regclass(quote_ident($1)), $2::bigint) where to_regclass(quote_ident($1)) is not null', [name, value])
  }
  await client.query('commit')
  await client.query('analyze')
}

function withName (url: string, name: string): string {
  const serverUrl = new URL(url)
  serverUrl.pathname = `/${name}`
  return serverUrl.href
}

/**
 * Stops tasks that ran or waited when the backup was made, because the library has changed since. Deletes waiting
 * deliveries too: the server sent them after the backup, or still sends them if this is a copy of it.
 */
export const stopWork = (client: pg.Client) => client.query(`with unsent as (delete from channel_deliveries), ended as (
  update tasks set status = 'stopped', ended_at = now(), worker_id = null, error = 'The task was still running when the restored backup was made; run it again'
  where status in ('queued', 'started', 'scheduled', 'deferred') returning id) select count(*) from ended`)

/** Returns the database name in an address, which defaults to the name of the role. */
export function nameOf (url: string): string {
  const { pathname, username } = new URL(url)
  return decodeURIComponent(pathname.slice(1) || username)
}

/** Returns the database's real name, whatever the address leaves to defaults. */
export const readName = async (client: pg.Client): Promise<string> =>
  (await client.query<{ name: string }>('select current_database()::text as name')).rows[0]?.name ?? ''

/** Creates an empty database beside this one. @returns its address */
export async function createBeside (client: pg.Client, url: string, name: string): Promise<string> {
  await client.query(`create database ${quote(name)} template template0`)
  return withName(url, name)
}

export const dropDatabase = (client: pg.Client, name: string) =>
  client.query(`drop database if exists ${quote(name)} with (force)`)

/**
 * Returns the name of the test database, at most 63 bytes. One fixed name lets the next backup or start find
 * what a killed backup left.
 */
export const checkName = (database: string) => `${CHECK_PREFIX}${database}`.slice(0, 63)

/**
 * Returns the address of the database that every server has, for statements that cannot run in the affected database.
 */
export const maintenanceUrl = (url: string) => withName(url, 'postgres')

export async function hasDatabase (client: pg.Client, name: string): Promise<boolean> {
  return (await client.query('select from pg_database where datname = $1', [name])).rowCount === 1
}

/** Lists other sessions on the database by their application names. */
export async function listSessions (client: pg.Client, name: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(`select distinct coalesce(nullif(application_name, ''), 'a program') as name
    from pg_stat_activity where datname = $1 and pid <> pg_backend_pid() and backend_type = 'client backend'`, [name])
  return rows.map((row) => row.name)
}

/** Renames the new database to the old name, and the old one to another name: both at once, or neither. */
export async function swapDatabases (
  client: pg.Client, { name, fresh, kept }: { name: string, fresh: string, kept: string }
): Promise<void> {
  if (!await hasDatabase(client, fresh)) return
  await inClientTransaction(client, async () => {
    if (await hasDatabase(client, name)) await client.query(`alter database ${quote(name)} rename to ${quote(kept)}`)
    await client.query(`alter database ${quote(fresh)} rename to ${quote(name)}`)
  })
}
