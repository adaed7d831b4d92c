import { EntityCaseNamingStrategy, MikroORM, type EntityManager } from '@mikro-orm/postgresql'
import type { EntityClass, EntitySchema, MigrationObject } from '@mikro-orm/core'
import { Migrator } from '@mikro-orm/migrations'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import pg from 'pg'
import { Installation, PluginCacheEntry, Worker, PluginIndex, PluginLimits, PluginSnapshot } from '../entities.ts'
import { mindPool } from './pool.ts'
import { limitRequests } from './request-time.ts'
import { prepareStatements } from './statements.ts'
import { StartError } from '../errors.ts'

export type Entities = (EntitySchema | EntityClass<unknown>)[]
export type Migrations = MigrationObject[]
/** Any number that is ours alone, so that two servers do not migrate one database at once. */
const MIGRATION_LOCK = 7_364_120

declare module 'fastify' {
  interface FastifyInstance {
    /** Its `em` itself makes statements and no more; entities want a fork, which costs as much as a short request. */
    orm: MikroORM
    /** A connection pool beside the ORM's, for LISTEN and for statements that stream. */
    pg: pg.Pool
  }
  interface FastifyRequest { em: EntityManager }
}

/**
 * How long a request waits at most, so that it ends whatever becomes of the database and of other processes: for a
 * connection, for what another one has locked, for one statement, and for itself within a transaction.
 */
export const REQUEST_LIMITS = {
  // All of these together, of the ten seconds after which clients give a server up. What follows is for work beside
  // requests, and has the database end what nobody waits for any more.
  totalMs: 7_000,
  connectionTimeoutMillis: 5_000,
  lock_timeout: 5_000,
  statement_timeout: 8_000,
  idle_in_transaction_session_timeout: 8_000,
  // The database itself tells of the limits above; this one is for when it says nothing any more.
  query_timeout: 9_000
}
export interface DatabaseOptions {
  url: string
  poolSize: number
  entities: Entities
  migrations: Migrations
  limits?: typeof REQUEST_LIMITS
  /** Whether statements that come often are prepared; default false. */
  prepares?: boolean
  /** By which the database tells those who write apart. */
  application?: 'svc web' | 'svc worker'
}

export interface MigrationOptions extends DatabaseOptions {
  /** Before the schema of a database that holds something is changed; what it throws leaves it as it is. */
  beforeChange? (): Promise<void>
}

/** What the driver and the database see to themselves. */
function driverOptions ({ limits, application }: DatabaseOptions): pg.PoolConfig {
  const { totalMs: _ours, ...theirs } = limits ?? {}
  return { ...theirs, ...(application === undefined ? {} : { application_name: application }) }
}

/** Opens the ORM on a database whose tables are there already. */
export function openOrm (options: DatabaseOptions): Promise<MikroORM> {
  const { url, poolSize, entities, migrations } = options
  return MikroORM.init({
    clientUrl: url,
    entities: [...entities, Worker, PluginCacheEntry, PluginIndex, PluginLimits, PluginSnapshot, Installation],
    extensions: [Migrator],
    namingStrategy: EntityCaseNamingStrategy,
    pool: { min: 0, max: poolSize },
    driverOptions: { keepAlive: true, ...driverOptions(options) },
    ensureDatabase: false,
    logger: () => {},
    forceUtcTimezone: true,
    migrations: { migrationsList: migrations, tableName: 'migrations', snapshot: false },
    // Functions are what migrations make them.
    schemaGenerator: { skipTables: ['socket_io_attachments', 'migrations'], ignoreRoutines: true }
  })
}

/** The migrations that made a database, in order; none when it is new. */
export async function listExecuted (client: pg.Pool | pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ is_there: boolean }>("select to_regclass('migrations') is not null as is_there")
  if (rows[0]?.is_there !== true) return []
  return (await client.query<{ name: string }>('select name from migrations order by id')).rows.map(({ name }) => name)
}

/** The first migration of a database that this release does not know: a newer one made it. */
export function findNewer (executed: readonly string[], migrations: Migrations): string | undefined {
  const known = new Set(migrations.map(({ name }) => name))
  return executed.find((name) => !known.has(name))
}

/** @throws StartError when a newer release made the database */
export function requireKnownSchema (executed: readonly string[], migrations: Migrations): void {
  const newer = findNewer(executed, migrations)
  if (newer === undefined) return
  throw new StartError(`The database was made by a newer release (migration ${newer}). Start that release, or restore a backup ` +
    'from before the upgrade with svc restore.')
}

/**
 * Brings the database to the current schema: all of it or, when that is cut short, nothing. Several processes may call
 * it at once: one works, the others wait.
 *
 * @returns the migrations that it took
 * @throws StartError when the server is older than PostgreSQL 15, cannot be reached, or knows newer migrations.
 */
export async function migrate (options: MigrationOptions): Promise<string[]> {
  const client = new pg.Client({ connectionString: options.url })
  // A connection that is lost fails the statement under way as well; without a listener it would end the process.
  client.on('error', () => undefined)
  try {
    await client.connect()
  } catch (err) {
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
    await client.query('select pg_advisory_lock($1)', [MIGRATION_LOCK])
    return await migrateFrom(await listExecuted(client), options)
  } finally {
    await client.end()
  }
}

async function migrateFrom (executed: readonly string[], options: MigrationOptions): Promise<string[]> {
  requireKnownSchema(executed, options.migrations)
  if (executed.length === options.migrations.length) return []
  if (executed.length > 0) await options.beforeChange?.()
  const orm = await openOrm({ ...options, poolSize: 1 })
  let taken: { name: string }[]
  try {
    taken = await orm.migrator.up()
  } catch (err) {
    // Not waited for: a connection that is lost within a transaction is never given back to its pool.
    void orm.close()
    throw err
  }
  await orm.close()
  return taken.map(({ name }) => name)
}

export default fp<DatabaseOptions>(async (app, options) => {
  const orm = await openOrm(options)
  const pool = new pg.Pool({
    ...driverOptions(options),
    connectionString: options.url, max: Math.max(2, Math.ceil(options.poolSize / 2)), keepAlive: true
  })
  pool.on('error', (err) => { app.log.warn({ err }, 'idle database connection lost') })
  // One that is in use when it breaks fails the statement under way; without a listener it would end the process too.
  pool.on('connect', (client) => {
    client.on('error', (err) => { app.log.debug({ err }, 'database connection lost') })
  })
  for (const one of [pool, await orm.em.getDriver().getConnection().getNativeClient()]) {
    mindPool(one)
    if (options.prepares === true) prepareStatements(one)
  }
  // Another release may have been there since this one was started, or by another machine.
  requireKnownSchema(await listExecuted(pool), options.migrations)
  if (options.limits !== undefined) limitRequests(app, options.limits.totalMs)
  app.decorate('orm', orm)
  app.decorate('pg', pool)
  const forks = new WeakMap<FastifyRequest, EntityManager>()
  app.decorateRequest('em', {
    // Made when it is first asked for: many requests need none.
    getter (this: FastifyRequest) {
      const em = forks.get(this) ?? orm.em.fork()
      forks.set(this, em)
      return em
    }
  })
  app.addHook('onClose', async () => {
    await orm.close()
    await pool.end()
  })
}, { name: 'database', fastify: '5.x' })
