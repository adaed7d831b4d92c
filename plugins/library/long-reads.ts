import type { FastifyInstance } from 'fastify'
import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'

/** As many as work at once in each process; others wait for them. */
const AT_ONCE = 2
/** A million ROMs take seconds where there is a processor for them, and a minute where there is hardly any. */
const STATEMENT_MS = 120_000
const QUERY_MS = STATEMENT_MS + 1_000
const IDLE_MS = 10_000

/** Nothing but statements: their text says what they read. */
export type LongReads = Kysely<object>

/**
 * Connections for statements that read all of the library, beside those of requests and their limits: they are few, and
 * open while they are needed. The database knows them by their name.
 */
export function openLongReads ({ log, pg: { options } }: Pick<FastifyInstance, 'log' | 'pg'>) {
  const pool = new pg.Pool({
    ...options, application_name: 'svc lists', max: AT_ONCE, idleTimeoutMillis: IDLE_MS, connectionTimeoutMillis: STATEMENT_MS,
    statement_timeout: STATEMENT_MS, query_timeout: QUERY_MS
  })
  const note = (err: Error) => { log.debug({ err }, 'database connection of lists lost') }
  pool.on('error', note)
  // One that is in use when it breaks fails the statement under way; without a listener it would end the process too.
  pool.on('connect', (client) => { client.on('error', note) })
  return new Kysely<object>({ dialect: new PostgresDialect({ pool }) })
}
