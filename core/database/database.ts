import { EntityCaseNamingStrategy, MikroORM } from '@mikro-orm/postgresql'
import type { EntityClass, EntitySchema, MigrationObject } from '@mikro-orm/core'
import { Migrator } from '@mikro-orm/migrations'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { PostgresDialect } from 'kysely'
import pg from 'pg'
import { Installation, PluginCacheEntry, Worker, PluginIndex, PluginLimits, PluginPackageRow, PluginSettings, PluginSnapshot, RateShare } from '../entities.ts'
import { Db, type Queryable } from './db.ts'
import { explainStartError, hasTooManyConnections } from './errors.ts'
import { requireUsableSchema } from './known-schema.ts'
import { watchPool } from './pool.ts'
import { limitRequests } from './request-time.ts'
import { removeTimeLimits } from './session.ts'
import { prepareStatements } from './statements.ts'
import { StartError } from '../errors.ts'

export type Entities = (EntitySchema | EntityClass<unknown>)[]
export type Migrations = MigrationObject[]
/** An arbitrary number reserved for this server. The lock keeps two servers from migrating one database at once. */
const MIGRATION_LOCK = 7_364_120

declare module 'fastify' {
  interface FastifyInstance {
    /** A new handle each time it is read, with a unit of work of its own. */
    readonly db: Db
    /**
     * The connections of `db`, for work that needs a connection of its own. A pooler may give each transaction another
     * session.
     */
    pg: pg.Pool
    /** The address for connections with a session of their own, as for LISTEN and advisory locks. */
    databaseUrl: string
  }
  interface FastifyRequest { readonly db: Db }
}

/**
 * Limits of a request's waits for the database, so that it ends whatever state the database and other processes are in.
 * They bound the wait for a connection, for locks, for one statement, and idle time within a transaction.
 */
export const REQUEST_LIMITS = {
  // The sum of all waits; clients give a server up after ten seconds. The limits below also apply to work outside
  // requests, and make the database end work whose client is gone.
  totalMs: 7_000,
  connectionTimeoutMillis: 5_000,
  lock_timeout: 5_000,
  statement_timeout: 8_000,
  idle_in_transaction_session_timeout: 8_000,
  // The database itself reports the limits above; this one applies when it no longer responds.
  query_timeout: 9_000
}

/**
 * Options of connections that stay open. The system checks idle ones after this time, and every second from then on, so
 * that the loss of a machine is noticed within 15 seconds: uv_tcp_keepalive of libuv.
 */
export const KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelayMillis: 5_000 }

export interface DatabaseOptions {
  url: string
  /** The address of the database itself if `url` may be a pooler; default `url`. */
  directUrl?: string
  poolSize: number
  entities: Entities
  migrations: Migrations
  limits?: typeof REQUEST_LIMITS
  /** True if frequent statements are prepared; default false. */
  prepares?: boolean
  /** The name of the process in the database's list of sessions. */
  application?: 'svc web' | 'svc worker' | 'svc command'
}

export interface MigrationOptions extends DatabaseOptions {
  /** Runs before the schema of a database with content is changed. If it throws, the schema stays unchanged. */
  beforeChange? (): Promise<void>
}

/**
 * Returns the limits that the driver and the database enforce themselves. A pooler refuses connections that set the
 * database's own limits, so its operator sets them there (examples/cluster/pgbouncer.ini).
 */
function driverOptions ({ url, directUrl = url, limits, application }: DatabaseOptions): pg.PoolConfig {
  const { totalMs: _ours, connectionTimeoutMillis, query_timeout: queryTimeout, ...databaseLimits } = limits ?? {}
  const isPooled = directUrl !== url
  const driverLimits = {
    ...(connectionTimeoutMillis === undefined ? {} : { connectionTimeoutMillis }),
    ...(queryTimeout === undefined ? {} : { query_timeout: queryTimeout }),
    ...(isPooled ? {} : databaseLimits)
  }
  return { ...driverLimits, ...(application === undefined ? {} : { application_name: application }) }
}

/** Creates a pool, which connects on demand. @param onLost gets the errors of connections that break */
function createPool (options: DatabaseOptions, onLost: (err: Error) => void = () => {}): pg.Pool {
  const { url, poolSize } = options
  const pool = new pg.Pool({ ...driverOptions(options), connectionString: url, max: poolSize, ...KEEP_ALIVE })
  // A connection that breaks while in use also fails the running statement; without listeners the error would end the
  // process.
  pool.on('error', onLost)
  pool.on('connect', (client) => { client.on('error', onLost) })
  return pool
}

const CORE_ENTITIES = [
  Worker, PluginCacheEntry, PluginIndex, PluginLimits, PluginPackageRow, PluginSettings, PluginSnapshot, RateShare,
  Installation
]

function initOrm ({ url, migrations }: DatabaseOptions, entities: Entities, pool: pg.Pool): Promise<MikroORM> {
  return MikroORM.init({
    clientUrl: url,
    entities,
    discovery: { warnWhenNoEntities: false },
    extensions: [Migrator],
    namingStrategy: EntityCaseNamingStrategy,
    driverOptions: new PostgresDialect({ pool }),
    ensureDatabase: false,
    logger: () => {},
    forceUtcTimezone: true,
    migrations: { migrationsList: migrations, tableName: 'migrations', snapshot: false },
    // Only migrations create and change functions.
    schemaGenerator: { skipTables: ['socket_io_attachments', 'migrations'], ignoreRoutines: true }
  })
}

/** Opens the ORM on a database whose tables exist. Closing it closes the connections. */
export function openOrm (options: DatabaseOptions, pool = createPool(options)): Promise<MikroORM> {
  return initOrm(options, [...options.entities, ...CORE_ENTITIES], pool)
}

/** Returns the migrations that a database has executed, in order; none if it is new. */
export async function listExecuted (db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ is_there: boolean }>("select to_regclass('migrations') is not null as is_there")
  if (rows[0]?.is_there !== true) return []
  return (await db.query<{ name: string }>('select name from migrations order by id')).rows.map(({ name }) => name)
}

/** True if this connection can write; false on a standby that is not promoted yet. */
export async function isWritable (client: pg.Client): Promise<boolean> {
  const { rows: [row] } = await client.query<{ transaction_read_only: string }>('show transaction_read_only')
  return row?.transaction_read_only === 'off'
}

/** The PostgreSQL channel that tells every process that the schema changed. */
export const SCHEMA_CHANNEL = 'svc_schema'

/**
 * Migrates the database to the current schema: completely or, if interrupted, not at all. Several processes may call it
 * at once: one migrates, the others wait.
 *
 * @returns the migrations that were executed
 * @throws StartError if the server is older than PostgreSQL 15, cannot be reached, can only be read, or knows
 * newer migrations.
 */
export async function migrate (options: MigrationOptions): Promise<string[]> {
  const client = new pg.Client({ connectionString: options.url })
  // A lost connection also fails the running statement; without a listener the error would end the process.
  client.on('error', () => undefined)
  try {
    await client.connect()
  } catch (err) {
    if (hasTooManyConnections(err)) throw explainStartError(err)
    throw new StartError(`The database cannot be reached: ${(err as Error).message}. Check SVC_DATABASE_URL and that ` +
      'the server is running.', { cause: err })
  }
  try {
    const version = Number((await client.query<{ server_version_num: string }>('show server_version_num')).rows[0]
      ?.server_version_num)
    if (version < 150_000) {
      throw new StartError(`The database is PostgreSQL ${Math.floor(version / 10_000)}; version 15 or later is needed. ` +
        'Point SVC_DATABASE_URL at one, or unset it to use the embedded database.')
    }
    if (!await isWritable(client)) {
      throw new StartError('The database can only be read, because it is a standby or its server allows no writes. Promote the standby ' +
        '(select pg_promote()), or set SVC_DATABASE_URL to the address of the primary.')
    }
    await removeTimeLimits(client)
    await client.query('select pg_advisory_lock($1)', [MIGRATION_LOCK])
    const applied = await migrateFrom(await listExecuted(client), options)
    if (applied.length > 0) await client.query('select pg_notify($1, $2)', [SCHEMA_CHANNEL, ''])
    return applied
  } finally {
    await client.end()
  }
}

async function migrateFrom (executed: readonly string[], options: MigrationOptions): Promise<string[]> {
  requireUsableSchema(executed, options.migrations)
  const names = new Set(executed)
  if (options.migrations.every(({ name }) => names.has(name))) return []
  if (executed.length > 0) await options.beforeChange?.()
  const pool = createPool({ ...options, poolSize: 1 })
  pool.options.verify = (connection, done) => { removeTimeLimits(connection).then(() => { done() }, done) }
  // Without entities, because they would hold this ORM in memory as long as the process lives.
  const orm = await initOrm(options, [], pool)
  let applied: { name: string }[]
  try {
    applied = await orm.migrator.up()
  } catch (err) {
    // Not awaited: a connection lost within a transaction never returns to its pool.
    void orm.close()
    throw err
  }
  await orm.close()
  return applied.map(({ name }) => name)
}

export default fp<DatabaseOptions>(async (app, options) => {
  const pool = createPool(options, (err) => { app.log.debug({ err }, 'database connection lost') })
  // Not `orm.close()`: its Kysely would lose a connection that is being opened, and then wait for it without end.
  app.addHook('onClose', () => pool.end())
  const orm = await openOrm(options, pool)
  watchPool(pool)
  if (options.prepares === true) prepareStatements(pool)
  // Another release may have migrated the database since this process started, or from another machine.
  requireUsableSchema(await listExecuted(pool), options.migrations)
  if (options.limits !== undefined) limitRequests(app, options.limits.totalMs)
  app.decorate('pg', pool)
  app.decorate('databaseUrl', options.directUrl ?? options.url)
  app.decorate('db', { getter: () => new Db(orm.em) })
  const handles = new WeakMap<FastifyRequest, Db>()
  app.decorateRequest('db', {
    getter (this: FastifyRequest) {
      const db = handles.get(this) ?? new Db(orm.em)
      handles.set(this, db)
      return db
    }
  })
}, { name: 'database', fastify: '5.x' })
