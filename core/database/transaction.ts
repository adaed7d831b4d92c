import type { EntityManager } from '@mikro-orm/postgresql'
import type pg from 'pg'
import { isCrossed } from './errors.ts'

/** After this many conflicts with other transactions, the cause is probably something else. */
const TRIES_MAX = 5

/** Retries work that was rolled back because of another transaction. */
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
    // A connection that cannot roll back is closed, which rolls back as well; the first error is the reason.
    await client.query('rollback').catch((second: Error) => { broken = second })
    throw err
  } finally {
    client.release(broken)
  }
}

/**
 * Runs `work` in one transaction, which is rolled back if it throws. After a conflict with another transaction `work`
 * runs again, so it must do nothing but use the database.
 */
export const transaction = <T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> =>
  retry(() => once(pool, work))

/**
 * Runs `work` in one transaction of the ORM. Within another transaction it becomes part of that one, which is then
 * retried as a whole.
 */
export async function inTransaction<T> (em: EntityManager, work: (tx: EntityManager) => Promise<T>): Promise<T> {
  const run = () => em.transactional(work)
  return em.isInTransaction() ? await run() : await retry(run)
}
