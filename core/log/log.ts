import type { IncomingMessage } from 'node:http'
import { createRequire } from 'node:module'
import { type DestinationStream, type Logger, pino, stdSerializers } from 'pino'
import type Pretty from 'pino-pretty'
import type { Config } from '../config/config.ts'
import { createLogOutput } from './log-output.ts'
import { REQUEST_ID_FIELD, currentRequestId } from './request-id.ts'

const require = createRequire(import.meta.url)

/** Fields whose values are masked in every logged object. */
const SECRET_FIELDS = ['authorization', 'cookie', 'password', 'secret', 'token', 'secret_key', 'client_secret', 'api_key']
const SECRET_QUERY = /([?&](?:token|key|code|password|secret|state|[a-z_]*(?:token|secret|password))=)[^&]*/gi

/** Fields that PostgreSQL adds to an error: the values of whole rows, and the statement with its values. */
const ROW_FIELDS = new Set(['detail', 'where', 'internalQuery', 'query', 'parameters', 'bindings'])
const ROW_TEXT = /(?:Failing row contains|Key) \(.*\)[^\n]*/g

/** Errors of services elsewhere. Their message says everything, because the server's own code did nothing wrong. */
const OUTSIDE_ERRORS = new Set(['ServiceDownError', 'RateLimitedError', 'HttpStatusError', 'CredentialsRefusedError'])

/**
 * Returns an error for the log, without the data that the database repeats in it. The failure of a service elsewhere
 * gets its stack only in a log with `details`, because people without a network would see many of them.
 */
function toLoggedError (err: unknown, details: boolean): unknown {
  if (!(err instanceof Error)) return withoutRows(err, 0)
  if (details || !OUTSIDE_ERRORS.has(err.name)) return withoutRows(stdSerializers.err(err), 0)
  const { type, message } = stdSerializers.err(err)
  return { type, message }
}

function withoutRows (value: unknown, depth: number): unknown {
  if (typeof value === 'string') return value.replace(ROW_TEXT, '(values are not logged)')
  if (typeof value !== 'object' || value === null || Array.isArray(value) || depth > 4) return value
  return Object.fromEntries(Object.entries(value).filter(([name]) => !ROW_FIELDS.has(name))
    .map(([name, child]) => [name, withoutRows(child, depth + 1)]))
}

export const maskUrl = (url: string) => url.replace(SECRET_QUERY, '$1********')

/** Receives each line that a logger writes, as JSON. It must be fast, because the logging code waits for it. */
export type LineReader = (line: string) => void

const READERS = Symbol('readers of the lines')

const readersOf = (logger: object) => Reflect.get(logger, READERS) as Set<LineReader> | undefined

/**
 * Passes all later lines of a logger of {@link createLogger}, or of one derived from it, to a reader. @returns a
 * function that ends it
 */
export function readLines (logger: object, reader: LineReader): () => void {
  readersOf(logger)?.add(reader)
  return () => { readersOf(logger)?.delete(reader) }
}

/** Passes a line that another process wrote to the readers of a logger. */
export function passLine (logger: object, line: string): void {
  for (const read of readersOf(logger) ?? []) read(line)
}

const REQUEST = Symbol('id of the request that it is of')

/**
 * Creates the logger of one request. A pino child for each request would search its fields for secrets each time,
 * whether anything is logged or not.
 */
export function createRequestLogger<L extends object> (logger: L, id: string): L {
  const own = Object.create(logger) as L
  Reflect.set(own, REQUEST, id)
  return own
}

/** Returns the id of the request that a line is written for. */
function findRequest (logger: object): object {
  const id = (Reflect.get(logger, REQUEST) as string | undefined) ?? currentRequestId()
  return id === undefined ? {} : { [REQUEST_ID_FIELD]: id }
}

/** Creates a readable log for a terminal. The library is loaded here, because no other process needs it. */
function createReadable (): DestinationStream {
  const pretty = require('pino-pretty') as typeof Pretty
  return pretty({ colorize: true, ignore: 'pid,hostname,name', translateTime: 'SYS:HH:MM:ss', sync: true })
}

/** Creates a logger of JSON lines, or of readable ones on a terminal. */
export function createLogger (config: { server: Pick<Config['server'], 'log_level'> }, name: string, destination?: DestinationStream): Logger {
  const stream = destination ?? (process.stdout.isTTY
    ? createReadable()
    : createLogOutput(({ count, err }) => { logger.warn({ lines: count, err }, 'lines of the log were lost') }))
  const logger: Logger = pino({
    name,
    level: config.server.log_level,
    redact: { paths: SECRET_FIELDS.flatMap((field) => [field, `*.${field}`, `*.*.${field}`]), censor: '********' },
    serializers: {
      err: (err: unknown) => toLoggedError(err, logger.isLevelEnabled('debug')),
      req: (request: { method: string, url: string, id: string, ip?: string, raw?: IncomingMessage }) => ({
        id: request.id, method: request.method, url: maskUrl(request.url), ip: request.ip
      }),
      res: (reply: { statusCode: number }) => ({ status: reply.statusCode })
    },
    mixin: (_fields, _level, own) => findRequest(own),
    hooks: {
      streamWrite (line) {
        passLine(logger, line)
        return line
      }
    }
  }, stream)
  // Derived loggers inherit the readers.
  return Object.assign(logger, { [READERS]: new Set<LineReader>() })
}
