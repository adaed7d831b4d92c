import { ApiError, conflict } from '../errors.ts'

/** SQLSTATE: https://www.postgresql.org/docs/current/errcodes-appendix.html */
const FOREIGN_KEY = '23503'
/** unique_violation: another transaction wrote the same value between the check and the write. */
const UNIQUE = '23505'
/** lock_not_available: the statement waited too long for a lock. */
const LOCK_TIMEOUT = '55P03'
/** Includes serialization_failure and deadlock_detected: the transaction was rolled back, and a retry may succeed. */
const RETRYABLE = new Set(['40001', '40P01', UNIQUE])
/** A code of this server: the request has used all its time with the database (core/database/request-time.ts). */
export const OUT_OF_TIME = 'OUT_OF_TIME'
/**
 * A lock timeout, query_canceled, the two timeouts of a transaction, and our own: the work took longer than a
 * request may.
 */
const TOO_LONG = new Set([LOCK_TIMEOUT, '57014', '25P03', '25P04', OUT_OF_TIME])
/**
 * too_many_connections; the codes of a shutdown, a crash, and the recovery after it; read_only_sql_transaction of a
 * standby that is not promoted yet.
 */
const UNAVAILABLE = new Set(['53300', '57P01', '57P02', '57P03', '25006', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE'])
/** connection_exception, the class of the codes that begin with it. */
const CONNECTION_CLASS = '08'
/** Messages of the driver without a code: a connection broke, or none was available in time. */
const UNAVAILABLE_TEXT = /^(?:Connection terminated|Client (?:has encountered a connection error|was closed)|Query read timeout|timeout exceeded when trying to connect|timeout expired$)/
const RETRY_AFTER_SECONDS = 2

function codeOf (err: unknown): string {
  const code: unknown = err instanceof Error ? Reflect.get(err, 'code') : null
  return typeof code === 'string' ? code : ''
}

/** True if a transaction was rolled back only because of another one, so that it may be retried. */
export const isSerializationFailure = (err: unknown) => RETRYABLE.has(codeOf(err))

/** True if a statement failed because it waited too long for a lock. */
export const isLockTimeout = (err: unknown) => codeOf(err) === LOCK_TIMEOUT

/** True if a row that the statement refers to was deleted by another request meanwhile. */
export const isForeignKeyViolation = (err: unknown) => codeOf(err) === FOREIGN_KEY

/** True if the database is unreachable, or this connection is broken. */
export function isUnavailable (err: unknown): boolean {
  const code = codeOf(err)
  return UNAVAILABLE.has(code) || (code.startsWith(CONNECTION_CLASS) && code.length === 5) ||
    (err instanceof Error && UNAVAILABLE_TEXT.test(err.message))
}

/** Returns the error that a client gets for a failure of the database that is not a bug; null for any other error. */
export function explainDatabaseError (err: unknown): ApiError | null {
  const extra = { retryAfterSeconds: RETRY_AFTER_SECONDS, cause: err }
  if (isForeignKeyViolation(err)) return conflict('An object that this request refers to was deleted at the same moment; fetch the current state and try again')
  if (codeOf(err) === UNIQUE) return conflict('Another request stored the same object at the same moment; fetch the current state and try again')
  if (isSerializationFailure(err)) return new ApiError('UNAVAILABLE', 'The database cancelled this request because of a conflict with other requests; try again', extra)
  if (TOO_LONG.has(codeOf(err))) return new ApiError('UNAVAILABLE', 'The database took too long to answer; try again', extra)
  if (isUnavailable(err)) return new ApiError('UNAVAILABLE', 'The database is not ready; try again', extra)
  return null
}
