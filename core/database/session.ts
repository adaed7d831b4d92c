import pg from 'pg'

/** `transaction_timeout` exists since PostgreSQL 17. */
const REMOVE_LIMITS = `select set_config(name, '0', false) from pg_settings where name in ('statement_timeout', 'lock_timeout',
  'idle_in_transaction_session_timeout', 'idle_session_timeout', 'transaction_timeout')`

/** Removes the time limits of a session that its role or database may have, for work that takes minutes. */
export async function removeTimeLimits (client: Pick<pg.ClientBase, 'query'>): Promise<void> {
  await client.query(REMOVE_LIMITS)
}

/** Runs work on one connection with a session of its own, and closes it. */
export async function withSession<T> (options: pg.ClientConfig, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(options)
  // A lost connection also fails the running statement. Without a listener the event would end the process.
  client.on('error', () => undefined)
  try {
    await client.connect()
    return await work(client)
  } finally {
    await client.end()
  }
}
