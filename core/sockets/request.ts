import type { IncomingMessage, ServerResponse } from 'node:http'
import { hasBody } from '../web/empty-body.ts'
import { findHostProblem } from '../web/framework-errors.ts'

/** The path of sockets for browsers and devices, below the path of the base URL. */
export const SOCKET_PATH = '/ws/socket.io'
/**
 * The most bytes of one message, and so of the body of a polling request: socket.io's value in the version that clients
 * use.
 */
export const MESSAGE_MAX_BYTES = 1_000_000
/** The time limit of a body that another process gets: a session without a message ends after that time anyway. */
const BODY_MS = 85_000
/** OPTIONS requests of CORS are answered before this check. */
const METHODS = ['GET', 'POST']

interface Fault { status: 400 | 405 | 413, detail: string }

/** The path of an endpoint: below the path of the base URL, and without that path, because a proxy may have cut it. */
export interface SocketPath { readonly path: string, readonly bare: string }

export const queryOf = (url: string) => new URLSearchParams(url.split('?', 2)[1])

/** True if a request is for an endpoint, with or without a trailing slash. */
export function isSocketUrl (url: string, { path, bare }: SocketPath): boolean {
  if (!url.startsWith(path) && !url.startsWith(bare)) return false
  const [pathname = ''] = url.split('?', 1)
  return [path, bare].includes(pathname.replace(/\/$/, ''))
}

/** Restores the path of the base URL that a proxy cut off, because engine.io compares with the full path. */
export function restorePrefix (request: IncomingMessage, { path, bare }: SocketPath): void {
  const { url = '' } = request
  if (!url.startsWith(path)) request.url = path + url.slice(bare.length)
}

/** True if a request is for a WebSocket but has no upgrade header, because a proxy removed the header. */
export function isUpgradeMissing ({ url = '', headers }: IncomingMessage): boolean {
  return headers.upgrade === undefined && queryOf(url).get('transport') === 'websocket'
}

/**
 * True if a request may upgrade to a WebSocket. Clients also offer protocols that are not supported, such as h2c, and
 * expect a plain response: https://www.rfc-editor.org/rfc/rfc9110#section-7.8
 */
export function isSocketUpgrade (request: IncomingMessage, socketPath: SocketPath): boolean {
  return request.method === 'GET' && request.headers.upgrade?.toLowerCase() === 'websocket' && !hasBody(request) &&
    findHostProblem(request) === null && isSocketUrl(request.url ?? '', socketPath)
}

function findFault (request: IncomingMessage): Fault | null {
  const hostProblem = findHostProblem(request)
  if (hostProblem !== null) return { status: 400, detail: hostProblem }
  const { method = '', headers } = request
  if (!METHODS.includes(method)) return { status: 405, detail: 'Method Not Allowed' }
  if (method === 'GET' && hasBody(request)) return { status: 400, detail: 'A GET request has no body here; send the body with POST' }
  const coding = headers['transfer-encoding'] ?? 'chunked'
  if (coding.toLowerCase() !== 'chunked') {
    return { status: 400, detail: `The transfer coding '${coding}' is not supported; send the body as it is, or chunked` }
  }
  return Number(headers['content-length'] ?? 0) > MESSAGE_MAX_BYTES ? TOO_LARGE : null
}

const TOO_LARGE: Fault = { status: 413, detail: `The request is larger than ${MESSAGE_MAX_BYTES} bytes; send less at once` }

function refuse (response: ServerResponse, { status, detail }: Fault): void {
  const body = JSON.stringify({ detail })
  // The connection is closed, because the rest of the request is not read. An upgrade's response has no chained
  // methods.
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    connection: 'close',
    ...(status === 405 ? { allow: METHODS.join(', ') } : {})
  })
  response.end(body)
}

/** Accepts only requests that the transports send; an engine.io middleware. */
export function checkSocketRequest (request: IncomingMessage, response: ServerResponse, next: () => void): void {
  const fault = findFault(request)
  if (fault === null) next()
  else refuse(response, fault)
}

/**
 * Reads the body of a polling request. The connection closes if the body does not arrive in time, because anybody can
 * send one for a session that does not exist.
 *
 * @returns the body; null if it was too large and has been refused
 * @throws Error if the client disconnected, or at the time limit
 */
export async function readSocketBody (
  request: IncomingMessage, response: ServerResponse, limitMs = BODY_MS
): Promise<Buffer | null> {
  const timer = setTimeout(() => { request.destroy() }, limitMs).unref()
  try {
    return await readBody(request, response)
  } finally {
    clearTimeout(timer)
  }
}

async function readBody (request: IncomingMessage, response: ServerResponse): Promise<Buffer | null> {
  const chunks: Buffer[] = []
  let bytes = 0
  // Keeps the request open, because the refusal must be sent on the same connection.
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
