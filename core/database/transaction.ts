import type { Db } from './db.ts'
import { isSerializationFailure } from './errors.ts'

/** After this many conflicts with other transactions, the cause is probably something else. */
const TRIES_MAX = 5

/** Retries work that was rolled back because of another transaction. */
async function retry<T> (work: () => Promise<T>): Promise<T> {
  for (let attempts = 1; ; attempts++) {
    try {
      return await work()
    } catch (err) {
      if (!isSerializationFailure(err) || attempts === TRIES_MAX) throw err
    }
  }
}

/**
 * Runs `work` in one transaction, which is rolled back if it throws. After a conflict with another transaction `work`
 * runs again, so it must do nothing but use the database. Within another transaction it becomes part of that one, which
 * is then retried as a whole.
 */
export async function inTransaction<T> (db: Db, work: (tx: Db) => Promise<T>): Promise<T> {
  const run = () => db.transact(work)
  return db.isInTransaction ? await run() : await retry(run)
}
