import { DatabaseSync } from 'node:sqlite'

/** SQLITE_BUSY: https://www.sqlite.org/rescode.html#busy */
const BUSY = 5

/** True if the statement got its lock; any other failure is thrown. */
export function tryStatement (database: DatabaseSync, sql: string): boolean {
  try {
    database.exec(sql)
    return true
  } catch (err) {
    if (err instanceof Error && 'errcode' in err && err.errcode === BUSY) return false
    throw err
  }
}

/** Opens a file for locks. @param waitMs how long a statement waits for a lock, while the process does nothing else */
export function openLockFile (file: string, waitMs: number): DatabaseSync {
  const database = new DatabaseSync(file)
  database.exec(`pragma busy_timeout = ${waitMs}`)
  return database
}

/**
 * Locks a file until it is closed; returns false if another process has locked it. It is SQLite's lock: the operating
 * system releases it when the process ends, in any way. Process ids would be reused, and differ between containers.
 */
export const tryLockFile = (database: DatabaseSync): boolean =>
  tryStatement(database, 'pragma journal_mode = memory; begin exclusive')
