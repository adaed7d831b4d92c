import type pg from 'pg'

/**
 * Runs work in one transaction of a connection, which is rolled back if the work throws. For COPY and for commands
 * without the server; all else uses `inTransaction`.
 */
export async function inClientTransaction<T> (client: pg.ClientBase, work: () => Promise<T>): Promise<T> {
  await client.query('begin')
  try {
    const result = await work()
    await client.query('commit')
    return result
  } catch (err) {
    // A lost connection rolls back by itself.
    await client.query('rollback').catch(() => undefined)
    throw err
  }
}
