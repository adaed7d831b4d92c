import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { StartError } from '../errors.ts'
import { createRunDir } from '../config/run-dir.ts'

/**
 * The lock on a data directory is SQLite's lock on a file in it. The operating system releases the lock when the
 * process ends, in any way. Process ids would be reused, and differ between containers.
 */
const LOCK_FILE = 'lock'
/** A process that only checks the lock holds the file for a moment. */
const WAIT_MS = 250
/** SQLITE_BUSY: https://www.sqlite.org/rescode.html#busy */
const BUSY = 5

export interface DataLock { release (): void }

function open (dataDir: string): DatabaseSync {
  const file = join(createRunDir(dataDir), LOCK_FILE)
  try {
    return new DatabaseSync(file)
  } catch (err) {
    throw new StartError(`${file} cannot be opened: ${(err as Error).message}. Give this user the right to write there, ` +
      'or set SVC_DATA_DIR to another folder.', { cause: err })
  }
}

/** True if the statement got its lock. */
function attempt (database: DatabaseSync, sql: string): boolean {
  try {
    database.exec(sql)
    return true
  } catch (err) {
    if ((err as { errcode?: number }).errcode === BUSY) return false
    throw new StartError(`The data directory cannot be locked: ${(err as Error).message}. It must be on a file system ` +
      'with file locks.', { cause: err })
  }
}

/**
 * Locks the data directory for this process until it ends; returns null if another process has locked it.
 *
 * @throws StartError if the folder cannot be written or locked.
 */
export function lockDataDir (dataDir: string): DataLock | null {
  const database = open(dataDir)
  database.exec(`pragma busy_timeout = ${WAIT_MS}`)
  if (attempt(database, 'pragma journal_mode = memory; begin exclusive')) return { release: () => { database.close() } }
  database.close()
  return null
}

/** True if a process has locked the data directory. */
export function isDataDirLocked (dataDir: string): boolean {
  const database = open(dataDir)
  try {
    return !attempt(database, 'select count(*) from sqlite_schema')
  } finally {
    database.close()
  }
}
