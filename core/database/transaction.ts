import type { EntityManager } from '@mikro-orm/postgresql'
import type pg from 'pg'
import { isCrossed } from './errors.ts'

/** Two requests that crossed each other this often are in the way of something else. */
const TRIES_MAX = 5

/** Does again what was undone because of another transaction. */
async function retry<T> (work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work()
    } catch (err) {
      if (!isCrossed(err) || tries === TRIES_MAX) throw err
    }
  }
}

async function once<T> (pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
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

/**
 * Runs `work` in one transaction, which is undone when it throws. It is run again when another transaction was in the
 * way, so it does nothing but talk to the database.
 */
export const transaction = <T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> =>
  retry(() => once(pool, work))

/** The same by the ORM. Within another transaction it is part of that one, which is then what is tried again. */
export async function inTransaction<T> (em: EntityManager, work: (tx: EntityManager) => Promise<T>): Promise<T> {
  const run = () => em.transactional(work)
  return em.isInTransaction() ? await run() : await retry(run)
}
