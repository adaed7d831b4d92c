import pg from 'pg'

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
