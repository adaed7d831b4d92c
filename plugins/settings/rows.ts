import type pg from 'pg'

/** Any number that is ours alone. */
const CONFIG_LOCK = 7_364_140

/** Has one process at a time change config.yml, until the transaction ends. */
export async function lockConfigFile (client: pg.ClientBase): Promise<void> {
  await client.query('select pg_advisory_xact_lock($1)', [CONFIG_LOCK])
}
