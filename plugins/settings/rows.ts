import type pg from 'pg'

/** The key of the advisory lock on config.yml: a number that nothing else uses. */
const CONFIG_LOCK = 7_364_140

/** Locks config.yml until the transaction ends, so that one process at a time changes it. */
export async function lockConfigFile (client: pg.ClientBase): Promise<void> {
  await client.query('select pg_advisory_xact_lock($1)', [CONFIG_LOCK])
}
