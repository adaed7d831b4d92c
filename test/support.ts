import { randomUUID } from 'node:crypto'
import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { hash } from '@node-rs/argon2'
import { type Logger, pino } from 'pino'
import pg from 'pg'
import type { Test as TapTest } from 'tap'
import { type AppOptions, buildApp } from '../core/app.ts'
import { FIRST_GROUPS } from '../plugins/migrations/initial/permissions.ts'
import type { Config } from '../core/config/config.ts'
import { composeFeatures } from '../core/features.ts'
import { inspectPlugins } from '../core/loader/inspection/inspect.ts'
import type { PluginPackage } from '../core/loader/packages/packages.ts'
import { fingerprintOf, storeDescriptions } from '../core/loader/inspection/snapshot.ts'
import type { App } from '../core/typebox.ts'
import { featureList } from '../plugins/index.ts'
import { insertUser } from '../plugins/users/service.ts'
import { loadConfig } from './load-config.ts'
import documentedStatuses from './documented-statuses.ts'

/** The first feature sees the responses of all others. */
const features = composeFeatures({ ...featureList, features: [documentedStatuses, ...featureList.features] })

/** More than an app needs to close on a busy machine. */
const CLOSE_MS = 60_000

type Test = Pick<TapTest, 'testdir' | 'teardown'>

/** Returns the URL of the database server that the test run started, with a migrated template. */
export function testServerUrl (): string {
  const url = process.env.SVC_TEST_DATABASE_URL
  if (url === undefined) throw new Error('No test database: run the tests with npm test -- <file>')
  return url
}

/** Returns the URL of a database without the Unix socket, for tests that run as a user who cannot reach it. */
export function overTcp (databaseUrl: string): string {
  const url = new URL(databaseUrl)
  url.searchParams.delete('host')
  return url.href
}

let administration: pg.Pool | null = null

async function administer (sql: string): Promise<void> {
  administration ??= new pg.Pool({
    connectionString: testServerUrl(), max: 1, idleTimeoutMillis: 0, allowExitOnIdle: true
  })
  await administration.query(sql)
}

function databaseUrlOf (name: string): string {
  const url = new URL(testServerUrl())
  url.pathname = `/${name}`
  return url.href
}

/** Selects everything besides rows that a test may change in a database. */
const SHAPE = `with places as (
    select c.oid, c.relname, c.relkind, c.reloptions from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname in ('public', 'pgboss') and c.relname !~ '^plugin_index_\\d+'),
  parts as (
    select concat_ws(' ', relname, relkind, reloptions) as part from places
    union all select concat_ws(' ', relname, attname, atttypid, attnotnull) from places join pg_attribute on attrelid = oid
    union all select concat_ws(' ', relname, conname, contype) from places p join pg_constraint on conrelid = p.oid
    union all select concat_ws(' ', relname, tgname, tgenabled) from places p join pg_trigger on tgrelid = p.oid
    union all select concat_ws(' ', proname, md5(prosrc)) from pg_proc where pronamespace = 'public'::regnamespace
    union all select concat_ws(' ', setrole, setconfig) from pg_db_role_setting
      where setdatabase = (select oid from pg_database where datname = current_database()))
  select md5(string_agg(part, ';' order by part)) as shape,
    (select coalesce(array_agg(fingerprint), '{}') from plugin_snapshots) as snapshots from parts`
const TABLES = "from pg_class c where relkind = 'r' and relnamespace = any('{public,pgboss}'::regnamespace[])"
/** The size of the file, without opening it, because that costs as much as most operations on a table. */
const SIZE = '(pg_stat_file(pg_relation_filepath(c.oid), true)).size'
/**
 * PostgreSQL assumes this size for a table without statistics (`estimate_rel_size`). Deleted rows leave a table at its
 * size, and a larger table has other plans.
 */
const LARGE_BYTES = 10 * 8_192
/** Above this size of all large tables a new database costs less than deleting the rows. */
const REUSED_BYTES_MAX = 4 * 1_024 * 1_024
const LARGE = `select format('%I.%I', relnamespace::regnamespace, relname) as name, ${SIZE}::float8 as bytes
  ${TABLES} and relname !~ '^plugin_index_\\d+' and ${SIZE} > ${LARGE_BYTES}`
/** Clears PostgreSQL's statistics about deleted rows. `pg_stats` would check the rights on each column. */
const FORGET = `select pg_clear_relation_stats(relnamespace::regnamespace::text, relname) ${TABLES} and reltuples <> -1;
  select pg_clear_attribute_stats(relnamespace::regnamespace::text, relname, attname::text, stainherit)
    from pg_statistic join pg_attribute on attrelid = starelid and attnum = staattnum
      join pg_class c on c.oid = starelid
    where relnamespace = any('{public,pgboss}'::regnamespace[])`

/** A database made from the template, with its state when it was new. */
interface Made { name: string, shape: string, snapshots: string[] }

/** Unused databases of this process, kept because creating one costs more than emptying it. */
const left: Made[] = []
const TEMPLATE = 'svc_template'
/** Tables whose rows belong to the schema, not to a test. */
const KEPT_TABLES = ['public.migrations', 'public.plugin_snapshots', 'public.library_versions', 'pgboss.version', 'pgboss.queue']

/** Tables whose rows belong to a running server. */
const RUNNING_TABLES = [...KEPT_TABLES, 'public.libraries', 'public.workers', 'pgboss.schedule']

/** Deletes from the few tables with rows, a fraction of the cost of truncating all. Foreign keys are not checked. */
const emptyAllBut = (kept: readonly string[]) => `do $$ declare place text; begin
  set local session_replication_role = replica;
  for place in select tablename from pg_tables where tablename ~ '^plugin_index_\\d+$'
  loop execute 'drop table ' || place; end loop;
  for place in select format('%I.%I', relnamespace::regnamespace, relname) ${TABLES} and ${SIZE} > 0
    and format('%s.%s', relnamespace::regnamespace, relname) <> all('{${kept.join(',')}}')
  loop execute 'delete from ' || place; end loop;
  perform setval(format('%I.%I', schemaname, sequencename)::regclass, start_value, false) from pg_sequences
    where schemaname in ('public', 'pgboss') and sequencename not in ('migrations_id_seq', 'library_versions_id_seq') and last_value is not null;
end $$`

async function emptyTables (client: pg.Client | pg.Pool, kept: readonly string[]): Promise<void> {
  await client.query(emptyAllBut(kept))
  for (const sql of FIRST_GROUPS) await client.query(sql)
  // No trigger has seen the version.
  await client.query("select move_library_version('edits', 0)")
}

async function within<T> (name: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: databaseUrlOf(name) })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

async function create (template: string): Promise<string> {
  const name = `t_${randomUUID().replaceAll('-', '')}`
  await administer(`create database ${name} template ${template} strategy file_copy`)
  return name
}

async function readShape (client: pg.Client): Promise<Omit<Made, 'name'>> {
  const { rows: [row] } = await client.query<Omit<Made, 'name'>>(SHAPE)
  if (row === undefined) throw new Error('A database has no shape')
  return row
}

async function make (): Promise<Made> {
  const name = await create(TEMPLATE)
  return { name, ...await within(name, readShape) }
}

/**
 * Ends the connections to a database, after a wait for closing ones, because an ended pool would report their end as an
 * uncaught error.
 */
const endSessions = (name: string) => administer(`do $$ begin
  for look in 1..1000 loop
    exit when not exists (select from pg_stat_activity where datname = '${name}');
    perform pg_stat_clear_snapshot(), pg_sleep(0.01);
  end loop;
  perform pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}';
end $$`)

async function drop (name: string): Promise<void> {
  await endSessions(name)
  await administer(`drop database if exists ${name} with (force)`)
}

/** Resets a database to its state when it was new. @returns false if that is not possible */
async function renew ({ name, shape, snapshots }: Made): Promise<boolean> {
  await endSessions(name)
  return await within(name, async (client) => {
    if ((await readShape(client)).shape !== shape) return false
    const listLarge = async () => (await client.query<{ name: string, bytes: number }>(LARGE)).rows
    const large = await listLarge()
    if (large.reduce((sum, { bytes }) => sum + bytes, 0) > REUSED_BYTES_MAX) return false
    await emptyTables(client, KEPT_TABLES)
    if (large.length > 0) {
      await client.query(`vacuum (full) ${large.map(({ name }) => name).join()}`)
      // Deleted rows remain while any database of the server has an older transaction.
      if ((await listLarge()).length > 0) return false
    }
    await client.query('delete from plugin_snapshots where fingerprint <> all($1)', [snapshots])
    await client.query("update plugin_snapshots set worker = null, reports = '[]'")
    await client.query(FORGET)
    return true
  })
}

/**
 * Returns a former database or a new one. A former one is reset only when it is needed, because the last one never is.
 */
async function takeDatabase (): Promise<Made> {
  for (let former = left.pop(); former !== undefined; former = left.pop()) {
    if (await renew(former)) return former
    await drop(former.name)
  }
  return await make()
}

/** Selects the sessions of this database that wait for a table. Tables have the same ids in those of other tests. */
export const blockedBy = (table: string) => `select from pg_locks l join pg_database d on d.oid = l.database
  where datname = current_database() and relation = '${table}'::regclass and not granted`

/** Creates a separate database from the migrated template, or an empty one. */
export async function createTestDatabase (t: Test, template = TEMPLATE): Promise<string> {
  if (template !== TEMPLATE) {
    const name = await create(template)
    t.teardown(() => drop(name))
    return databaseUrlOf(name)
  }
  const made = await takeDatabase()
  t.teardown(() => { left.push(made) })
  return databaseUrlOf(made.name)
}

export interface TestAppOptions {
  /** Variables in place of the real environment. */
  env?: Record<string, string>
  packages?: PluginPackage[]
  loading?: AppOptions['loading']
  /** Content of the library folder, in the form of `t.testdir`. */
  library?: Parameters<TapTest['testdir']>[0]
  /** True if a scan worker runs beside the web worker; default false. */
  worker?: boolean
  databaseUrl?: string
  /** Receives every log line as an object: from `info` on, or from the level in `env`. */
  log?: (line: Record<string, unknown>) => void
  /** Replaces the logger that writes to `log`. */
  logger?: Logger
  /** Leaves the database without an administrator; `admin` is then useless. */
  withoutAdmin?: boolean
}

export interface TestApp {
  app: App
  /** The worker's app, if there is one. */
  worker: App | null
  config: Config
  databaseUrl: string
  libraryDir: string
  /** Headers of an administrator. */
  admin: { authorization: string }
  /** Creates a user and returns the headers to call as that user. */
  createUser (username: string, role?: 'admin' | 'user'): Promise<{ authorization: string }>
}

/**
 * Stores the descriptions of packages as a scan worker would, because fixtures share memory with the test that runs
 * them.
 */
async function keepDescriptions (databaseUrl: string, config: Config, packages: PluginPackage[]): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    const { descriptions } = await inspectPlugins({ config, runsPlugins: false, packages })
    await storeDescriptions(client, fingerprintOf(packages), descriptions)
  } finally {
    await client.end()
  }
}

/** Cheap hashing, because each test would pay for a password's hash, and again for its check. */
const QUICK_HASH = { memoryCost: 8, timeCost: 1, parallelism: 1 }

const basic = (username: string, password: string) =>
  ({ authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` })

/** Closes an app, and says what it waits for if it does not close. */
async function close (app: App): Promise<void> {
  const timeout = new AbortController()
  const fail = async (): Promise<void> => {
    await sleep(CLOSE_MS, undefined, { signal: timeout.signal })
    const count = await promisify(app.server.getConnections.bind(app.server))()
    const { pg: { totalCount, idleCount, waitingCount } } = app
    throw new Error(`The app does not close. It is ${app.server.listening ? '' : 'not '}listening, has ${count} connections, and ` +
      `${totalCount} to PostgreSQL: ${idleCount} idle, ${waitingCount} requests wait for one`)
  }
  const failed = fail()
  failed.catch(() => { /* reported below, or the app was closed */ })
  await Promise.race([app.close(), failed])
  timeout.abort()
}

/** Builds the real server, ready for injected or real requests, on its own database and folders. */
export async function buildTestApp (t: Test, options: TestAppOptions = {}): Promise<TestApp> {
  const folder = t.testdir({ data: {}, library: options.library ?? {} })
  const libraryDir = options.env?.SVC_LIBRARY_DIR ?? join(folder, 'library')
  const { config } = loadConfig({
    SVC_DATA_DIR: join(folder, 'data'), SVC_LIBRARY_DIR: libraryDir, SVC_LOG_LEVEL: process.env.SVC_LOG_LEVEL ?? 'silent',
    SVC_AUTH_SECRET_KEY: 'a key for tests only', ...options.env
  })
  // After the configuration, because a refused one needs no database.
  const databaseUrl = options.databaseUrl ?? await createTestDatabase(t)
  const { log } = options
  const logger = options.logger ?? (log === undefined
    ? pino({ level: config.server.log_level })
    : pino({ level: options.env?.SVC_LOG_LEVEL ?? 'info' }, { write (line) { log(JSON.parse(line) as Record<string, unknown>) } }))
  const build = (role: 'web' | 'worker') => buildApp({
    config, role, databaseUrl, logger, features, workerNumber: role === 'web' ? 1 : 0,
    ...(options.packages === undefined ? {} : { packages: options.packages }),
    ...(options.loading === undefined ? {} : { loading: options.loading })
  })
  if (options.packages !== undefined && options.worker !== true) {
    await keepDescriptions(databaseUrl, config, options.packages)
  }
  const worker = options.worker === true ? await build('worker') : null
  const app = await build('web')
  t.teardown(async () => {
    await close(app)
    if (worker !== null) await close(worker)
  })
  await worker?.ready()
  await app.ready()

  async function createUser (username: string, role: 'admin' | 'user' = 'user') {
    const passwordHash = await hash('a password', QUICK_HASH)
    await insertUser(app.db, { username, email: null, role, password_hash: passwordHash })
    return basic(username, 'a password')
  }
  const admin = options.withoutAdmin === true ? basic('admin', '') : await createUser('admin', 'admin')
  return { app, worker, config, databaseUrl, libraryDir, createUser, admin }
}

type Library = NonNullable<TestAppOptions['library']>

/** Options that each test of a shared server may choose. */
export interface FreshOptions extends Pick<TestAppOptions, 'withoutAdmin'> { library?: Library }

/** Replaces the content of `folder`. */
async function refill (t: Test, folder: string, content: Library): Promise<void> {
  const made = t.testdir({ content })
  await rm(folder, { recursive: true, force: true })
  await rename(join(made, 'content'), folder)
}

/**
 * Shares one server among many tests of a file, because its start costs more than most tests. Each call of the returned
 * function resets it: an empty database except for an administrator, an empty data folder, this library. The function
 * uses the test's own `testdir`, which a test may call only afterwards.
 */
export function shareTestApp (owner: Test, options: Omit<TestAppOptions, 'library'> = {}) {
  let shared: Promise<TestApp> | undefined
  return async (t: Test, { library = {}, withoutAdmin = false }: FreshOptions = {}): Promise<TestApp> => {
    shared ??= buildTestApp(owner, { ...options, withoutAdmin: true })
    const test = await shared
    await emptyTables(test.app.pg, RUNNING_TABLES)
    await refill(t, test.libraryDir, library)
    await refill(t, test.config.data_dir, {})
    return { ...test, admin: withoutAdmin ? test.admin : await test.createUser('admin', 'admin') }
  }
}

/** Deletes every account, as on a newly installed server. */
export async function dropUsers ({ app }: TestApp): Promise<void> {
  await app.pg.query('delete from users')
}
