import { errorCode } from '../files/fs-error.ts'
import { StartError } from '../errors.ts'

/** Returns the error for a data directory that cannot be created or written. */
export function explainDataDir (dataDir: string, err: unknown): StartError {
  const code = errorCode(err)
  const message = (err as Error).message
  const remedy = code === 'ENOSPC' || code === 'EDQUOT'
    ? 'The disk is full: free at least 1 GiB'
    : code === 'EEXIST' || code === 'ENOTDIR'
      ? 'A file is in the place of a folder: move it away'
      : code === 'EROFS' ? 'The file system is read-only: mount it writable' : 'Give this user the right to write there'
  return new StartError(`The data directory ${dataDir} cannot be used: ${message}. ${remedy}, or set SVC_DATA_DIR to ` +
    'another folder.', { cause: err })
}
