import { ApiError, conflict } from '../errors.ts'

/** SQLSTATE: https://www.postgresql.org/docs/current/errcodes-appendix.html */
const FOREIGN_KEY = '23503'
/** unique_violation: where a statement looked before it wrote, somebody else wrote the same in between. */
const UNIQUE = '23505'
/** With serialization_failure and deadlock_detected: nothing was done, and the same again may well succeed. */
const CROSSED = new Set(['40001', '40P01', UNIQUE])
/** Of our own: the request has waited for the database as long as one may (core/database/request-time.ts). */
export const OUT_OF_TIME = 'OUT_OF_TIME'
/** lock_not_available, query_canceled, and the two limits of a transaction: it took longer than a request may. */
const TOO_LONG = new Set(['55P03', '57014', '25P03', '25P04', OUT_OF_TIME])
/** too_many_connections; then all of a shutdown, a crash, and the recovery after it. */
const AWAY = new Set(['53300', '57P01', '57P02', '57P03', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE'])
/** connection_exception and what is below it. */
const CONNECTION_CLASS = '08'
/** What the driver says without a code when a connection broke, or when none was to be had in time. */
const AWAY_TEXT = /^(?:Connection terminated|Client (?:has encountered a connection error|was closed)|Query read timeout|timeout exceeded when trying to connect|timeout expired$)/
const RETRY_AFTER_SECONDS = 2

function codeOf (err: unknown): string {
  const code: unknown = err instanceof Error ? Reflect.get(err, 'code') : null
  return typeof code === 'string' ? code : ''
}

/** Whether a transaction was undone only because of another one, so that it may be tried again. */
export const isCrossed = (err: unknown) => CROSSED.has(codeOf(err))

/** Whether something was referred to that another request has deleted meanwhile. */
export const isGoneMeanwhile = (err: unknown) => codeOf(err) === FOREIGN_KEY

/** Whether the database cannot be asked, or not by this connection any more. */
export function isAway (err: unknown): boolean {
  const code = codeOf(err)
  return AWAY.has(code) || (code.startsWith(CONNECTION_CLASS) && code.length === 5) ||
    (err instanceof Error && AWAY_TEXT.test(err.message))
}

/** What a client is told of a failure of the database that is nobody's bug; null for any other. */
export function explainDatabaseError (err: unknown): ApiError | null {
  const extra = { retryAfterSeconds: RETRY_AFTER_SECONDS, cause: err }
  if (isGoneMeanwhile(err)) return conflict('Something that this request is about was deleted meanwhile; look what is left and try again')
  if (codeOf(err) === UNIQUE) return conflict('Another request stored the same at the same moment; look what is there and try again')
  if (isCrossed(err)) return new ApiError('UNAVAILABLE', 'Other requests were in the way; try again', extra)
  if (TOO_LONG.has(codeOf(err))) return new ApiError('UNAVAILABLE', 'The database took too long to answer; try again', extra)
  if (isAway(err)) return new ApiError('UNAVAILABLE', 'The database is not ready; try again', extra)
  return null
}
