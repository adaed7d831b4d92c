import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { StartError } from '../errors.ts'
import { createRunDir } from '../config/run-dir.ts'
import { openLockFile, tryLockFile, tryStatement } from '../files/file-lock.ts'

/** The file in a data directory whose lock is that of the directory. */
const LOCK_FILE = 'lock'
/** A process that only checks the lock holds the file for a moment. */
const WAIT_MS = 250

export interface DataLock { release (): void }

function open (dataDir: string): DatabaseSync {
  const file = join(createRunDir(dataDir), LOCK_FILE)
  try {
    return openLockFile(file, WAIT_MS)
  } catch (err) {
    throw new StartError(`${file} cannot be opened: ${(err as Error).message}. Give this user the right to write there, ` +
      'or set SVC_DATA_DIR to another folder.', { cause: err })
  }
}

/** Explains the failure of a lock. @returns true if the lock was taken */
function attempt (lock: () => boolean): boolean {
  try {
    return lock()
  } catch (err) {
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
  if (attempt(() => tryLockFile(database))) return { release: () => { database.close() } }
  database.close()
  return null
}

/** True if a process has locked the data directory. */
export function isDataDirLocked (dataDir: string): boolean {
  const database = open(dataDir)
  try {
    return !attempt(() => tryStatement(database, 'select count(*) from sqlite_schema'))
  } finally {
    database.close()
  }
}
