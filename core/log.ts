import type { IncomingMessage } from 'node:http'
import { type DestinationStream, type Logger, pino, stdSerializers } from 'pino'
import pretty from 'pino-pretty'
import type { Config } from './config.ts'

/** Values never printed, wherever an object with such a field is logged. */
const SECRET_FIELDS = ['authorization', 'cookie', 'password', 'secret', 'token', 'secret_key', 'client_secret', 'api_key']
const SECRET_QUERY = /([?&](?:token|key|code|password|secret|state|[a-z_]*(?:token|secret|password))=)[^&]*/gi

export const maskUrl = (url: string) => url.replace(SECRET_QUERY, '$1********')

/** JSON lines, or readable ones when a person watches. */
export function createLogger (config: { server: Pick<Config['server'], 'log_level'> }, name: string, destination?: DestinationStream): Logger {
  const stream = destination ?? (process.stdout.isTTY
    ? pretty({ colorize: true, ignore: 'pid,hostname,name', translateTime: 'SYS:HH:MM:ss', sync: true })
    : pino.destination({ dest: 1, sync: true }))
  return pino({
    name,
    level: config.server.log_level,
    redact: { paths: SECRET_FIELDS.flatMap((field) => [field, `*.${field}`, `*.*.${field}`]), censor: '********' },
    serializers: {
      err: stdSerializers.err,
      req: (request: { method: string, url: string, id: string, ip?: string, raw?: IncomingMessage }) => ({
        id: request.id, method: request.method, url: maskUrl(request.url), ip: request.ip
      }),
      res: (reply: { statusCode: number }) => ({ status: reply.statusCode })
    }
  }, stream)
}
