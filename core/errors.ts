/**
 * The failures of core that a client can cause or meet, each with its status. Features declare theirs with
 * `defineError`. A retired code is never reused.
 */
const TABLE = {
  NOT_AUTHENTICATED: [401, 'Not authenticated'],
  BAD_CREDENTIALS: [401, 'Incorrect username or password'],
  FORBIDDEN: [403, 'Forbidden'],
  INSUFFICIENT_PERMISSIONS: [403, 'Insufficient permissions'],
  NOT_FOUND: [404, 'Not found'],
  BAD_REQUEST: [400, 'Bad request'],
  CONFLICT: [409, 'Conflict'],
  GONE: [410, 'Gone'],
  PRECONDITION_FAILED: [412, 'The current version is not the one that the request expects'],
  TOO_LARGE: [413, 'The request is larger than allowed'],
  RANGE_NOT_SATISFIABLE: [416, 'No such range'],
  INVALID: [422, 'Invalid value'],
  TOO_MANY_REQUESTS: [429, 'Too many requests; try again later'],
  NO_FREE_SPACE: [507, 'Less than 1 GiB is free on the server; free some space there and try again'],
  UNAVAILABLE: [503, 'Service unavailable']
} as const satisfies Record<string, readonly [number, string]>

export type ErrorCode = keyof typeof TABLE

/** A kind of failure outside the table of core. */
export interface ErrorKind { code: string, status: number, message: string }

/** One entry of a 422 response. */
export interface Violation { loc: (string | number)[], msg: string, type: string, input?: unknown }

export interface ErrorDetails {
  violations?: Violation[]
  retryAfterSeconds?: number
  /** Scopes that the credential lacks. */
  missingScopes?: readonly string[]
  fields?: Readonly<Record<string, unknown>>
  cause?: unknown
}

const kindOf = (code: ErrorCode): ErrorKind => ({ code, status: TABLE[code][0], message: TABLE[code][1] })

/** An expected failure. Any other thrown value is a bug and becomes a 500. */
export class ApiError extends Error {
  readonly code: string
  readonly statusCode: number
  readonly violations: Violation[] | null
  readonly retryAfterSeconds: number | null
  readonly missingScopes: readonly string[]
  /** Machine-readable details beside the message. */
  readonly fields: Readonly<Record<string, unknown>> | null

  /** @param message replaces that of the kind */
  constructor (kind: ErrorCode | ErrorKind, message?: string, extra: ErrorDetails = {}) {
    const { code, status, message: fallback } = typeof kind === 'string' ? kindOf(kind) : kind
    super(message ?? fallback, { cause: extra.cause })
    this.code = code
    this.statusCode = status
    this.violations = extra.violations ?? null
    this.retryAfterSeconds = extra.retryAfterSeconds ?? null
    this.missingScopes = extra.missingScopes ?? []
    this.fields = extra.fields ?? null
  }
}

/** Declares a kind of failure. @returns a function that creates one, with the default message or another */
export const defineError = (code: string, status: number, message: string) =>
  (text?: string, extra?: ErrorDetails) => new ApiError({ code, status, message }, text, extra)

export const notFound = (message: string) => new ApiError('NOT_FOUND', message)
export const badRequest = (message: string) => new ApiError('BAD_REQUEST', message)
export const conflict = (message: string) => new ApiError('CONFLICT', message)
export const forbidden = (message?: string, extra?: ErrorDetails) => new ApiError('FORBIDDEN', message, extra)

/** Creates a 422 that names one field. */
export function invalid (loc: (string | number)[], msg: string, input?: unknown, type = 'value_error'): ApiError {
  return new ApiError('INVALID', msg, { violations: [{ loc, msg, type, input }] })
}

/**
 * Exit codes besides 0 for success. A temporary failure (EX_TEMPFAIL of sysexits.h) may work later; Ctrl-C ends with
 * 128 + SIGINT.
 */
export const EXIT_CODES = { failure: 1, usage: 2, temporary: 75, interrupted: 130 } as const

/** A start that cannot continue; the message states the problem and the remedy. Ends the process with `exitCode`. */
export class StartError extends Error {
  readonly exitCode: number

  constructor (message: string, options: ErrorOptions & { exitCode?: number } = {}) {
    super(message, options)
    this.exitCode = options.exitCode ?? EXIT_CODES.failure
  }
}
