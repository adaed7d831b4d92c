import type { FastifyInstance } from 'fastify'
import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'

/** Maximum numbers of concurrent statements per process; further ones wait. */
const CONCURRENCY = { 'svc lists': 2, 'svc list updates': 1 }
/** A million ROMs take seconds on a free processor, and a minute on a busy one. */
const STATEMENT_MS = 120_000
const QUERY_MS = STATEMENT_MS + 1_000
const IDLE_MS = 10_000

/** Only raw statements, because no tables are typed. */
export type LongReads = Kysely<object>

export interface OpenReads {
  reads: LongReads
  /**
   * Closes the connections after their running statements. `reads.destroy()` would lose a connection that is being
   * opened, and then wait for it without end.
   */
  close (): Promise<void>
}

/**
 * Opens connections for statements that read the whole library, or that update what was read. They are apart from those
 * of requests and their limits, few, without a pooler, open on demand, and identified by their application name.
 */
export function openLongReads (
  { log, databaseUrl, pg: { options } }: Pick<FastifyInstance, 'log' | 'databaseUrl' | 'pg'>,
  name: keyof typeof CONCURRENCY
): OpenReads {
  const pool = new pg.Pool({
    ...options, connectionString: databaseUrl, application_name: name, max: CONCURRENCY[name],
    idleTimeoutMillis: IDLE_MS, connectionTimeoutMillis: STATEMENT_MS,
    statement_timeout: STATEMENT_MS, query_timeout: QUERY_MS
  })
  const logLost = (err: Error) => { log.debug({ err }, 'database connection of lists lost') }
  pool.on('error', logLost)
  // A connection that breaks while in use fails its statement. Without a listener its error would also end the process.
  pool.on('connect', (client) => { client.on('error', logLost) })
  return { reads: new Kysely<object>({ dialect: new PostgresDialect({ pool }) }), close: () => pool.end() }
}
