import type { Secrets } from './secrets.ts'
import type { Queryable } from '../database/db.ts'
import { StartError } from '../errors.ts'
import { ALIVE_WORKERS } from '../jobs/workers.ts'

/** Returns a text that changes with the secret key of a process, and does not reveal it. */
export const keyDigestOf = (secrets: Secrets): string => secrets.sign('hosts', 'key')

/**
 * Makes sure that no running host of this database has another secret key. Sessions, stored secrets, settings and
 * plugins of one host would mean nothing to the other. The key may change while no host runs.
 *
 * @throws StartError naming the hosts with another key
 */
export async function requireSameKey (database: Queryable, secrets: Secrets): Promise<void> {
  const { rows } = await database.query<{ host_name: string }>(
    `select distinct w.host_name from ${ALIVE_WORKERS} where w.key_digest <> $1 order by 1`, [keyDigestOf(secrets)])
  if (rows.length === 0) return
  const names = rows.map(({ host_name: name }) => name).join(', ')
  throw new StartError(`This host has another secret key than the running hosts of its database (${names}). ` +
    'Set SVC_AUTH_SECRET_KEY to the same key on all hosts. To change the key, stop all hosts first.')
}
