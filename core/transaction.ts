import type pg from 'pg'

/** Runs `work` in one transaction, which is undone when it throws. */
export async function transaction<T> (pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  let broken: Error | undefined
  try {
    await client.query('begin')
    const result = await work(client)
    await client.query('commit')
    return result
  } catch (err) {
    // A connection that cannot even undo is closed, which undoes as well; what went wrong first is the reason.
    await client.query('rollback').catch((second: Error) => { broken = second })
    throw err
  } finally {
    client.release(broken)
  }
}
