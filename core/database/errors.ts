import { ApiError, EXIT_CODES, StartError, conflict } from '../errors.ts'
import { errorCode } from '../files/fs-error.ts'

/** SQLSTATE: https://www.postgresql.org/docs/current/errcodes-appendix.html */
const FOREIGN_KEY = '23503'
/** unique_violation: another transaction wrote the same value between the check and the write. */
const UNIQUE = '23505'
/** lock_not_available: the statement waited too long for a lock. */
const LOCK_TIMEOUT = '55P03'
/** query_canceled: a time limit, or an operator, stopped the statement. */
const QUERY_CANCELED = '57014'
/** Includes serialization_failure and deadlock_detected: the transaction was rolled back, and a retry may succeed. */
const RETRYABLE = new Set(['40001', '40P01', UNIQUE])
/** A code of this server: the request has used all its time with the database (core/database/request-time.ts). */
export const OUT_OF_TIME = 'OUT_OF_TIME'
/**
 * A lock timeout, query_canceled, the two timeouts of a transaction, and our own: the work took longer than a
 * request may.
 */
const TOO_LONG = new Set([LOCK_TIMEOUT, QUERY_CANCELED, '25P03', '25P04', OUT_OF_TIME])
/** disk_full. */
const DISK_FULL = '53100'
/** too_many_connections, of the server, a database or a role. */
const TOO_MANY_CONNECTIONS = '53300'
/**
 * The codes of a shutdown, a crash, and the recovery after it; read_only_sql_transaction of a standby that is not
 * promoted yet; the codes of a broken connection, and of an address that nobody answers at, such as the name of a
 * stopped container.
 */
const UNAVAILABLE = new Set(['57P01', '57P02', '57P03', '25006', 'ECONNREFUSED', 'ECONNRESET',
  'EPIPE', 'ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH'])
/** Classes of SQLSTATE that blame the connection, the sign-in, or the resources or the disk of the server. */
const UNAVAILABLE_CLASSES = new Set(['08', '28', '53', '58'])
/** Severities at which the server ends or refuses a session, whatever the code, such as for a missing database. */
const SESSION_ENDS = new Set<unknown>(['FATAL', 'PANIC'])
/** Messages of the driver without a code: a connection broke, or none was available in time, or the sign-in failed. */
const UNAVAILABLE_TEXT = /^(?:Connection terminated|Client (?:has encountered a connection error|was closed)|Query read timeout|timeout exceeded when trying to connect|timeout expired$|SASL: )/
const RETRY_AFTER_SECONDS = 2

/** True if a transaction was rolled back only because of another one, so that it may be retried. */
export const isSerializationFailure = (err: unknown) => RETRYABLE.has(errorCode(err))

/** True if a statement failed because it waited too long for a lock. */
export const isLockTimeout = (err: unknown) => errorCode(err) === LOCK_TIMEOUT

/** True if a time limit, or an operator, stopped a statement. */
export const isQueryCanceled = (err: unknown) => errorCode(err) === QUERY_CANCELED

/** True if the disk of the database is full. */
export const isDiskFull = (err: unknown) => errorCode(err) === DISK_FULL

/** True if the database, or the role, has no free connection. */
export const hasTooManyConnections = (err: unknown) => errorCode(err) === TOO_MANY_CONNECTIONS

/** What helps against too many connections. */
export const CONNECTIONS_REMEDY = 'Raise the limit of connections there, or lower SVC_DATABASE_POOL_SIZE or WEB_SERVER_CONCURRENCY'

/** Returns the error of a start that found no free connection; any other error stays. It may succeed later. */
export function explainStartError (err: unknown): unknown {
  if (!(err instanceof Error) || !hasTooManyConnections(err)) return err
  const message = `The database has no free connection: ${err.message}. ${CONNECTIONS_REMEDY}.`
  return new StartError(message, { cause: err, exitCode: EXIT_CODES.temporary })
}

/** True if a row that the statement refers to was deleted by another request meanwhile. */
const isForeignKeyViolation = (err: unknown) => errorCode(err) === FOREIGN_KEY

/** True if the database is unreachable or cannot work, or this connection is broken. */
export function isUnavailable (err: unknown): boolean {
  if (!(err instanceof Error)) return false
  const code = errorCode(err)
  // A missing socket file of a local database.
  const isSocketMissing = code === 'ENOENT' && Reflect.get(err, 'syscall') === 'connect'
  return UNAVAILABLE.has(code) || isSocketMissing || UNAVAILABLE_TEXT.test(err.message) ||
    (code.length === 5 && UNAVAILABLE_CLASSES.has(code.slice(0, 2))) || SESSION_ENDS.has(Reflect.get(err, 'severity'))
}

/** Returns the error that a client gets for a failure of the database that is not a bug; null for any other error. */
export function explainDatabaseError (err: unknown): ApiError | null {
  const extra = { retryAfterSeconds: RETRY_AFTER_SECONDS, cause: err }
  if (isForeignKeyViolation(err)) return conflict('An object that this request refers to was deleted at the same moment; fetch the current state and try again')
  if (errorCode(err) === UNIQUE) return conflict('Another request stored the same object at the same moment; fetch the current state and try again')
  if (isSerializationFailure(err)) return new ApiError('UNAVAILABLE', 'The database cancelled this request because of a conflict with other requests; try again', extra)
  if (TOO_LONG.has(errorCode(err))) return new ApiError('UNAVAILABLE', 'The database took too long to answer; try again', extra)
  if (isDiskFull(err)) return new ApiError('UNAVAILABLE', 'The disk of the database is full; free some space there and try again', extra)
  if (isUnavailable(err)) return new ApiError('UNAVAILABLE', 'The database is not ready; try again', extra)
  return null
}
