import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { badRequest } from '../errors.ts'
import { STATUS_CODES } from '../process/node-http.ts'
import { REQUEST_ID_HEADER } from '../log/request-id.ts'

const QUOTED_MAX = 100

const quote = (text: string) => `'${text.slice(0, QUOTED_MAX).toWellFormed()}${text.length > QUOTED_MAX ? '…' : ''}'`

const FRAMEWORK_TEXTS: Record<string, (url: string) => string> = {
  FST_ERR_BAD_URL: (url) => `The address ${quote(url)} is not percent-encoded as UTF-8; write a percent sign as %25`,
  FST_ERR_MAX_PARAM_LENGTH: (url) => `A part of the address ${quote(url)} is longer than the server accepts; shorten it`
}

/** True if the errors of this address have no body. */
const isBare = ({ url, server: { bareErrorRoots: roots } }: FastifyRequest): boolean =>
  roots.some((root) => url.startsWith(`${root}/`))

/** Sends errors that occur before a route is found: browsers see a page, other clients the form of all errors. */
export function sendFrameworkError (error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  const text = FRAMEWORK_TEXTS[error.code]?.(request.url.split('?', 1)[0] ?? '') ?? error.message
  const { pages, securityHeaders } = request.server
  // No hook runs before this handler, and none limits the body, so the connection closes.
  reply.code(error.statusCode ?? 500).headers(securityHeaders).header(REQUEST_ID_HEADER, request.id).header('connection', 'close')
  if (isBare(request)) void reply.send()
  else if (pages.show?.(request, reply) !== true) void reply.send({ detail: text })
}

/** Refuses an `Expect` other than `100-continue`, because Node's own response has no body. */
export function refuseExpectation ({ headers }: IncomingMessage, reply: ServerResponse): void {
  const detail = `The expectation ${quote(headers.expect ?? '')} is not supported by this server; send only 'Expect: 100-continue', or none`
  const body = JSON.stringify({ detail })
  reply.writeHead(417, {
    'content-type': 'application/json', 'content-length': Buffer.byteLength(body), connection: 'close'
  }).end(body)
}

/** `uri-host [ ":" port ]`: https://www.rfc-editor.org/rfc/rfc3986#section-3.2.2 */
const HOST = /^(?:\[[\w.:%~-]+\]|[\w.~%!$&'()*+,;=-]*)(?::\d*)?$/

/** True if a request has several Host headers, of which Node shows the first. */
function hasSeveralHosts ({ rawHeaders }: IncomingMessage): boolean {
  let count = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]
    if (name?.length === 4 && name.toLowerCase() === 'host') count++
  }
  return count > 1
}

/** Describes what is wrong with the Host header of a request; null if nothing is: RFC 9112, 3.2. */
export function findHostProblem (request: IncomingMessage): string | null {
  const { httpVersion, headers: { host } } = request
  if (host === undefined) return httpVersion === '1.1' ? 'The request names no host; send a Host header' : null
  if (!HOST.test(host)) return `The Host header ${quote(host)} is not valid; send a name or an address, and its port if needed`
  return hasSeveralHosts(request) ? 'The request has several Host headers; send one' : null
}

export function requireHost ({ raw }: FastifyRequest, reply: FastifyReply, done: () => void): void {
  const problem = findHostProblem(raw)
  if (problem === null) return done()
  reply.header('connection', 'close')
  throw badRequest(problem)
}

interface ConnectionError extends Error { code?: string }

/** True if the bytes that were parsed last begin a HEAD request. A request that began in earlier bytes is unknown. */
function isHead (error: ConnectionError): boolean {
  const packet: unknown = Reflect.get(error, 'rawPacket')
  return Buffer.isBuffer(packet) && packet.toString('latin1', 0, 5) === 'HEAD '
}

const BAD_REQUEST = [400, 'The request is not valid HTTP (RFC 9112); check the proxies between the client and the server'] as const
/** Statuses and texts by the codes of Node and llhttp. */
const CONNECTION_TEXTS = new Map<string | undefined, readonly [number, string]>([
  ['ERR_HTTP_REQUEST_TIMEOUT', [408, 'The request was not complete in time; send it again']],
  ['HPE_HEADER_OVERFLOW', [431, 'The headers are longer than 16 KiB; send fewer cookies or a shorter address']],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', [413, 'The chunk extensions are longer than 16 KiB; send none']]
])

/**
 * Answers requests that Node's parser refuses, before a request object exists; the connection closes with the response.
 */
export function refuseConnection (error: ConnectionError, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const [status, detail] = CONNECTION_TEXTS.get(error.code) ?? BAD_REQUEST
  const body = JSON.stringify({ detail })
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Type: application/json\r\n` +
    `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${isHead(error) ? '' : body}`, () => { socket.destroy() })
}
