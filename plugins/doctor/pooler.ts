import pg from 'pg'
import { poolerUrlOf, preparesStatements } from '../../core/config/database-urls.ts'
import { type DoctorCheck, fail, ok, reasonOf, warn } from './finding.ts'
import { selectLimits } from './rows.ts'

const SUBJECT = 'pooler'
const CONNECT_MS = 5_000

/** Checks the pooler of requests, if there is one: it answers, and its sessions have the limits that requests need. */
export const examinePooler: DoctorCheck = async ({ config }) => {
  const url = poolerUrlOf(config)
  if (url === undefined) return []
  const limits = { connectionTimeoutMillis: CONNECT_MS, query_timeout: CONNECT_MS }
  const client = new pg.Client({ connectionString: url, ...limits })
  client.on('error', () => { /* the statement reports it */ })
  try {
    await client.connect()
    const unlimited = await selectLimits(client)
    const prepares = preparesStatements(config) ? ' SVC_DATABASE_PREPARED_STATEMENTS needs a pooler that tracks prepared statements.' : ''
    return unlimited.length === 0
      ? [ok(SUBJECT, `The pooler answers, and limits statements and locks.${prepares}`)]
      : [warn(SUBJECT, `Sessions of the pooler have no ${unlimited.join(', ')}, so a request that was given up may go on in the database`,
          'Set the limits in the pooler, as connect_query in examples/cluster/pgbouncer.ini does')]
  } catch (err) {
    return [fail(SUBJECT, `The pooler of SVC_DATABASE_URL does not answer: ${reasonOf(err)}`,
      'Start it, or set SVC_DATABASE_URL to PostgreSQL itself and remove SVC_DATABASE_DIRECT_URL')]
  } finally {
    await client.end().catch(() => { /* it never connected */ })
  }
}
