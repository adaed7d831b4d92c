import type { IncomingMessage, ServerResponse } from 'node:http'
import { NO_HOST, lacksHost } from '../web/framework-errors.ts'

/** Where browsers and devices open sockets, below the path of the base URL. */
export const SOCKET_PATH = '/ws/socket.io'
/** What one message, and so the body of one polling request, may have: socket.io's figure of the served dialect. */
export const MESSAGE_MAX_BYTES = 1_000_000
/** With CORS, OPTIONS is answered before it comes to this. */
const METHODS = ['GET', 'POST']

interface Fault { status: 400 | 405 | 413, detail: string }

function hasBody ({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/** Where an endpoint is served: below the path of the base URL, and without that, which a proxy may have cut. */
export interface SocketPlace { readonly path: string, readonly bare: string }

/** Whether a request is for an endpoint, which is served with and without a slash at its end. */
export function isSocketUrl (url: string, { path, bare }: SocketPlace): boolean {
  if (!url.startsWith(path) && !url.startsWith(bare)) return false
  const [pathname = ''] = url.split('?', 1)
  return [path, bare].includes(pathname.replace(/\/$/, ''))
}

/** Gives a request for sockets the path of the base URL back that a proxy cut off: engine.io looks for it. */
export function restorePrefix (request: IncomingMessage, { path, bare }: SocketPlace): void {
  const { url = '' } = request
  if (!url.startsWith(path)) request.url = path + url.slice(bare.length)
}

/** Whether a request means to become a WebSocket and arrived without saying so: a proxy took that away. */
export function lacksUpgrade ({ url = '', headers }: IncomingMessage): boolean {
  return headers.upgrade === undefined && new URLSearchParams(url.split('?', 2)[1]).get('transport') === 'websocket'
}

/**
 * Whether a request may leave HTTP. Clients also offer protocols that are served nowhere, such as h2c, and expect a
 * plain answer: https://www.rfc-editor.org/rfc/rfc9110#section-7.8
 */
export function isSocketUpgrade (request: IncomingMessage, place: SocketPlace): boolean {
  return request.method === 'GET' && request.headers.upgrade?.toLowerCase() === 'websocket' && !hasBody(request) &&
    !lacksHost(request) && isSocketUrl(request.url ?? '', place)
}

function findFault (request: IncomingMessage): Fault | null {
  if (lacksHost(request)) return { status: 400, detail: NO_HOST }
  const { method = '', headers } = request
  if (!METHODS.includes(method)) return { status: 405, detail: 'Method Not Allowed' }
  if (method === 'GET' && hasBody(request)) return { status: 400, detail: 'GET takes no body here; send it with POST' }
  const coding = headers['transfer-encoding'] ?? 'chunked'
  if (coding.toLowerCase() !== 'chunked') {
    return { status: 400, detail: `The transfer coding '${coding}' is not known; send the body as it is, or chunked` }
  }
  return Number(headers['content-length'] ?? 0) > MESSAGE_MAX_BYTES ? TOO_LARGE : null
}

const TOO_LARGE: Fault = { status: 413, detail: `The request is larger than ${MESSAGE_MAX_BYTES} bytes; send less at once` }

function refuse (response: ServerResponse, { status, detail }: Fault): void {
  const body = JSON.stringify({ detail })
  // What is left of the request is not read: nothing may follow it. An upgrade's response has no chained methods.
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    connection: 'close',
    ...(status === 405 ? { allow: METHODS.join(', ') } : {})
  })
  response.end(body)
}

/** Lets through what the transports send, and nothing else; in the form of an engine.io middleware. */
export function checkSocketRequest (request: IncomingMessage, response: ServerResponse, next: () => void): void {
  const fault = findFault(request)
  if (fault === null) next()
  else refuse(response, fault)
}

/**
 * @returns a polling request's body; null when it was too large and is refused already
 * @throws Error when the client went away
 */
export async function readSocketBody (request: IncomingMessage, response: ServerResponse): Promise<Buffer | null> {
  const chunks: Buffer[] = []
  let bytes = 0
  // Kept open, for the refusal has to go out on the same connection.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > MESSAGE_MAX_BYTES) {
      refuse(response, TOO_LARGE)
      return null
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
