import { mkdirSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { Environment } from './environment.ts'
import { explainPath } from './plain-text.ts'
import { errorCode } from '../files/fs-error.ts'
import { StartError } from '../errors.ts'

const FULL = 'The disk is full: free at least 1 GiB, or set'
const FILE_IN_PLACE = 'A file has the name of a folder: move the file away, or set'

/** Beginnings of the sentence with the remedy, by error code. */
const REMEDIES: Readonly<Record<string, string>> = {
  ENOSPC: FULL,
  EDQUOT: FULL,
  NO_FREE_SPACE: FULL,
  EEXIST: FILE_IN_PLACE,
  ENOTDIR: FILE_IN_PLACE,
  ENOENT: 'That file system does not allow new folders: set',
  EROFS: 'The file system is read-only: mount it writable, or set'
}

/** Returns the data directory that the environment names. @throws StartError for a path with characters for a shell */
export function dataDirOf ({ SVC_DATA_DIR: given }: Environment): string {
  const path = given || './data'
  const problem = explainPath(path)
  if (problem !== null) throw new StartError(`SVC_DATA_DIR: ${path} ${problem}`)
  return resolve(path)
}

/** Returns the error for a data directory that cannot be created or written. */
export function explainDataDir (dataDir: string, err: unknown): StartError {
  const message = (err as Error).message
  const remedy = REMEDIES[errorCode(err)] ?? 'Give this user the right to write there, or set'
  return new StartError(`The data directory ${dataDir} cannot be used: ${message}. ${remedy} SVC_DATA_DIR to another ` +
    'folder.', { cause: err })
}

const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

/**
 * Creates a folder and its missing parents, closed to other users, one by one: the recursive `mkdir` of Node loops
 * forever below /proc, and reports ENOENT on a read-only disk.
 */
export function createPrivateFolder (path: string): void {
  if (isFolder(path)) return
  const parent = dirname(path)
  if (parent !== path) createPrivateFolder(parent)
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (err) {
    // Another process created the folder first.
    if (errorCode(err) !== 'EEXIST' || !isFolder(path)) throw err
  }
}

/**
 * Creates the data directory, closed to other users, unless it exists.
 *
 * @throws StartError if this user may not create it.
 */
export function createDataDir (dataDir: string): void {
  try {
    createPrivateFolder(dataDir)
  } catch (err) {
    throw explainDataDir(dataDir, err)
  }
}
