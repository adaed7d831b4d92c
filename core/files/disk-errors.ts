import { ApiError } from '../errors.ts'
import { errorCode } from './fs-error.ts'

/** Returns the error that a client gets for a failure of the disk that is not a bug; null for any other error. */
export function explainDiskError (err: unknown): ApiError | null {
  const extra = { cause: err }
  switch (errorCode(err)) {
    case 'ENOSPC': return new ApiError('NO_FREE_SPACE', 'The disk of the server is full; free some space and try again', extra)
    case 'EDQUOT': return new ApiError('NO_FREE_SPACE', 'The disk quota of the server is used up; raise the quota and try again', extra)
    case 'EROFS': return new ApiError('UNAVAILABLE', 'A folder of the server is read-only; mount it writable. The log names the folder', extra)
    case 'EIO': return new ApiError('UNAVAILABLE', 'A disk of the server reports an error (EIO); check the disk and its mount', extra)
    case 'EMFILE':
    case 'ENFILE': return new ApiError('UNAVAILABLE', `The server has too many open files (${errorCode(err)}); raise the limit (ulimit -n)`, extra)
    default: return null
  }
}
