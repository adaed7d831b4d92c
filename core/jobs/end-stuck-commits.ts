import type { FastifyBaseLogger } from 'fastify'
import { REQUEST_LIMITS } from '../database/database.ts'
import type { Queryable } from '../database/db.ts'

const INTERVAL_MS = 5_000

/**
 * The sessions of requests that wait for a synchronous standby, though their clients got a 503 long ago. PostgreSQL
 * applies none of its time limits to this wait. The transactions are complete on the primary either way.
 */
const END_STUCK = `select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and usename = current_user and application_name = 'svc web'
    and wait_event = 'SyncRep' and clock_timestamp() - query_start > $1 * interval '1 ms'`

/**
 * Ends the sessions of commits that nobody waits for any more, again and again. Without it, each write would keep a
 * connection until the standby is back, and reads would soon find none.
 *
 * @returns a function that stops it
 */
export function endStuckCommits (session: Queryable, log: FastifyBaseLogger): () => void {
  async function end (): Promise<void> {
    const { rowCount } = await session.query(END_STUCK, [REQUEST_LIMITS.query_timeout])
    if (rowCount !== null && rowCount > 0) {
      log.warn({ sessions: rowCount }, 'writes waited too long for the synchronous standby, so their connections were closed')
    }
  }
  const timer = setInterval(() => {
    end().catch((err: unknown) => { log.debug({ err }, 'sessions that wait for the standby could not be closed') })
  }, INTERVAL_MS)
  return () => { clearInterval(timer) }
}
