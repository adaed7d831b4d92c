import pg from 'pg'

/** Runs `work` in one transaction, which is undone when it throws. */
export async function transaction<T> (pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    const result = await work(client)
    await client.query('commit')
    return result
  } catch (err) {
    await client.query('rollback')
    throw err
  } finally {
    client.release()
  }
}

/** Classes of SQLSTATE that blame what was to be written: data, constraints, and limits such as an index row's size. */
const BAD_DATA = ['22', '23', '54']

/**
 * Writes rows together, and when the database refuses one of them, in halves, so that one bad row costs itself alone.
 *
 * @returns what was written
 */
export async function writeInHalves<Row, Written> (
  rows: readonly Row[], write: (rows: readonly Row[]) => Promise<Written[]>, refuse: (row: Row, err: Error) => void
): Promise<Written[]> {
  const [first] = rows
  if (first === undefined) return []
  try {
    return await write(rows)
  } catch (err) {
    if (!(err instanceof pg.DatabaseError) || !BAD_DATA.includes(err.code?.slice(0, 2) ?? '')) throw err
    if (rows.length === 1) {
      refuse(first, err)
      return []
    }
    const middle = Math.ceil(rows.length / 2)
    return [
      ...await writeInHalves(rows.slice(0, middle), write, refuse),
      ...await writeInHalves(rows.slice(middle), write, refuse)
    ]
  }
}
