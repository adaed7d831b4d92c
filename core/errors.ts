/** Every failure that a client can cause or meet, with its status. A retired code is never reused. */
const TABLE = {
  NOT_AUTHENTICATED: [401, 'Not authenticated'],
  BAD_CREDENTIALS: [401, 'Incorrect username or password'],
  FORBIDDEN: [403, 'Forbidden'],
  INSUFFICIENT_PERMISSIONS: [403, 'Insufficient permissions'],
  NOT_FOUND: [404, 'Not found'],
  BAD_REQUEST: [400, 'Bad request'],
  CONFLICT: [409, 'Conflict'],
  GONE: [410, 'Gone'],
  PRECONDITION_FAILED: [412, 'What is there now is not what the request expects'],
  TOO_LARGE: [413, 'The request is larger than allowed'],
  RANGE_NOT_SATISFIABLE: [416, 'No such range'],
  INVALID: [422, 'Invalid value'],
  TOO_MANY_REQUESTS: [429, 'Too many requests; try again later'],
  NO_FREE_SPACE: [507, 'Less than 1 GiB is free on the server'],
  KEY_REFUSED: [502, 'A metadata source refused its API key'],
  DECISION_NEEDED: [428, 'Something has to be decided first'],
  BROKER_FAILED: [502, 'The streaming broker did not do it'],
  CODE_NOT_SENT: [502, 'The confirmation code could not be sent'],
  UNAVAILABLE: [503, 'Service unavailable'],
  NO_PROVIDER: [500, 'No metadata providers enabled'],
  LIBRARY_EMPTY: [503, 'The library holds no folder of ROMs'],
  EXPORT_FAILED: [500, 'No file could be written'],
  CONFIG_NOT_WRITABLE: [500, 'Config file is not writable. Check config.yml permissions']
} as const satisfies Record<string, readonly [number, string]>

export type ErrorCode = keyof typeof TABLE

/** True for the code of an expected failure. */
export const isErrorCode = (code: unknown): code is ErrorCode => typeof code === 'string' && Object.hasOwn(TABLE, code)

/** One entry of a 422 response. */
export interface Violation { loc: (string | number)[], msg: string, type: string, input?: unknown }

/** An expected failure. Any other thrown value is a bug and becomes a 500. */
export class ApiError extends Error {
  readonly code: ErrorCode
  readonly statusCode: number
  readonly violations: Violation[] | null
  readonly retryAfterSeconds: number | null
  /** Machine-readable details beside the message. */
  readonly fields: Readonly<Record<string, unknown>> | null

  constructor (code: ErrorCode, message?: string, extra: {
    violations?: Violation[], retryAfterSeconds?: number, fields?: Readonly<Record<string, unknown>>, cause?: unknown
  } = {}) {
    super(message ?? TABLE[code][1], { cause: extra.cause })
    this.code = code
    this.statusCode = TABLE[code][0]
    this.violations = extra.violations ?? null
    this.retryAfterSeconds = extra.retryAfterSeconds ?? null
    this.fields = extra.fields ?? null
  }
}

export const notFound = (message: string) => new ApiError('NOT_FOUND', message)
export const badRequest = (message: string) => new ApiError('BAD_REQUEST', message)
export const conflict = (message: string) => new ApiError('CONFLICT', message)
export const forbidden = (message?: string) => new ApiError('FORBIDDEN', message)

/** Creates a 422 that names one field. */
export function invalid (loc: (string | number)[], msg: string, input?: unknown, type = 'value_error'): ApiError {
  return new ApiError('INVALID', msg, { violations: [{ loc, msg, type, input }] })
}

/** A start that cannot continue; the message states the problem and the remedy. Ends the process with `exitCode`. */
export class StartError extends Error {
  readonly exitCode: number

  constructor (message: string, options: ErrorOptions & { exitCode?: number } = {}) {
    super(message, options)
    this.exitCode = options.exitCode ?? 1
  }
}
