import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type pg from 'pg'
import type { ConstructorOptions, PgBoss } from 'pg-boss'
import manifest from 'pg-boss/package.json' with { type: 'json' }
import { withSession } from '../database/session.ts'
import { REQUEST_LIMITS } from '../database/database.ts'

// The library is loaded at first use, because a web worker that queues no job does not need it.

const THREAD = new URL('./migrate-thread.ts', import.meta.url)

/** Returns the options of a queue with its own connections, each of which is a permanent process of the database. */
const optionsFor = (url: string): ConstructorOptions => ({
  connectionString: url, max: 2, monitorVacuum: false, application_name: 'svc-jobs',
  connectionTimeoutMillis: REQUEST_LIMITS.connectionTimeoutMillis,
  // A role may have a limit for idle sessions. Each end of a connection would be logged as an error.
  options: '-c idle_session_timeout=0'
})

/** Creates the queue of a process that runs jobs, with three connections: one of them listens. */
export async function createBoss (url: string): Promise<PgBoss> {
  const { PgBoss } = await import('pg-boss')
  return new PgBoss({ ...optionsFor(url), useListenNotify: true })
}

/** Creates the queue of a process that only sends jobs. It uses the connections of requests and their time limits. */
export async function createAskingBoss (pool: pg.Pool): Promise<PgBoss> {
  const { PgBoss } = await import('pg-boss')
  return new PgBoss({
    db: { executeSql: (text, values) => pool.query(text, values) },
    migrate: false, createSchema: false, supervise: false, schedule: false, monitorVacuum: false
  })
}

const isCurrent = (url: string): Promise<boolean> => withSession({ connectionString: url }, async (client) => {
  const { rows: [found] } = await client.query<{ is_there: boolean }>("select to_regclass('pgboss.version') is not null as is_there")
  if (found?.is_there !== true) return false
  const { rows: [at] } = await client.query<{ version: number }>('select version from pgboss.version')
  // A newer release may have migrated it; this one works with it for the time of an upgrade.
  return at !== undefined && at.version >= manifest.pgboss.schema
})

/**
 * Migrates the queue's tables to the schema of this release of pg-boss. It does so in a thread, because a web worker
 * would keep the library in memory, 5 MB.
 */
export async function migrateJobs (url: string, onError: (err: unknown) => void): Promise<void> {
  if (await isCurrent(url)) return
  const thread = new Worker(THREAD, { workerData: optionsFor(url) })
  thread.on('message', onError)
  await once(thread, 'exit')
}
