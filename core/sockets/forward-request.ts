import type {
  ClientRequest, IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, RequestOptions, ServerResponse
} from 'node:http'
import { type Duplex, pipeline } from 'node:stream'
import { queryOf, readSocketBody } from './request.ts'

/**
 * No request is forwarded as received. The owner of the session gets a new request on a separate connection: the
 * method, a rebuilt URL, the few headers that the transports read, and the complete body.
 */
const QUERY = ['EIO', 'transport', 'sid']
const POLLING_HEADERS = ['content-type', 'accept-encoding', 'origin']
const WEBSOCKET_HEADERS = ['sec-websocket-key', 'sec-websocket-version', 'sec-websocket-extensions', 'sec-websocket-protocol',
  'origin']
const ANSWER_HEADERS = ['content-type', 'content-length', 'content-encoding', 'cache-control', 'vary',
  'access-control-allow-origin', 'access-control-allow-credentials']
/** Header values with only these characters are the same for every parser. */
const PLAIN_TEXT = /^[\t\x20-\x7e]*$/
/** engine.io's own response for an unknown session; the client then opens a new one. */
const UNKNOWN_SESSION = JSON.stringify({ code: 1, message: 'Session ID unknown' })

/** Rebuilds the URL of a session's request from the parameters that the transports read. */
export function rebuildUrl (url: string, path: string): string {
  const given = queryOf(url)
  const read = Object.fromEntries(QUERY.map((name) => [name, given.get(name) ?? '']))
  return `${path}/?${new URLSearchParams(read).toString()}`
}

/** Returns the headers in the list. */
export function pickHeaders (headers: IncomingHttpHeaders, names: readonly string[]): OutgoingHttpHeaders {
  return Object.fromEntries(names.flatMap((name) => {
    const value = headers[name]
    return typeof value === 'string' && PLAIN_TEXT.test(value) ? [[name, value]] : []
  }))
}

export function answerUnknown (response: ServerResponse): void {
  if (response.headersSent) response.destroy()
  else response.writeHead(400, { 'content-type': 'application/json' }).end(UNKNOWN_SESSION)
}

/** Opens a connection to the owner for one request. */
export type Send = (options: RequestOptions) => ClientRequest

/** The route of a forwarded request. */
export interface Route {
  /** The path of the endpoint. */
  path: string
  /** Finds the connection to the owner; null if the owner's host is not alive. */
  findSender (): Promise<Send | null>
}

const methodAndUrl = ({ method = 'GET', url = '' }: IncomingMessage, path: string) =>
  ({ method, path: rebuildUrl(url, path) })

/** Forwards one polling request and returns the response. */
function exchange (response: ServerResponse, forwarded: ClientRequest, body: Buffer): void {
  // The client is gone, so the owner must not hold its response.
  response.once('close', () => { forwarded.destroy() })
  forwarded.on('response', (reply) => {
    response.writeHead(reply.statusCode ?? 502, pickHeaders(reply.headers, ANSWER_HEADERS))
    pipeline(reply, response, () => {})
  })
  forwarded.on('error', () => { answerUnknown(response) })
  forwarded.end(body)
}

export async function forwardRequest (
  request: IncomingMessage, response: ServerResponse, { path, findSender }: Route
): Promise<void> {
  const body = await readSocketBody(request, response)
  if (body === null) return
  const send = await findSender()
  if (send === null) {
    answerUnknown(response)
    return
  }
  const headers = {
    ...pickHeaders(request.headers, POLLING_HEADERS),
    ...(request.method === 'POST' ? { 'content-length': body.length } : {})
  }
  exchange(response, send({ ...methodAndUrl(request, path), headers }), body)
}

function writeHead (socket: Duplex, reply: IncomingMessage): void {
  const lines = [`HTTP/1.1 ${reply.statusCode} ${reply.statusMessage}`]
  for (let index = 0; index + 1 < reply.rawHeaders.length; index += 2) {
    lines.push(`${reply.rawHeaders[index]}: ${reply.rawHeaders[index + 1]}`)
  }
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
}

function joinStreams (one: Duplex, other: Duplex): void {
  one.pipe(other)
  other.pipe(one)
  one.on('error', () => { other.destroy() }).on('close', () => { other.destroy() })
  other.on('error', () => { one.destroy() }).on('close', () => { one.destroy() })
}

function refuseUpgrade (socket: Duplex): void {
  socket.end(`HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: ${UNKNOWN_SESSION.length}\r\n\r\n` +
    UNKNOWN_SESSION)
}

/** Forwards a WebSocket; from then on both sides communicate through this worker. */
export async function forwardUpgrade (
  request: IncomingMessage, socket: Duplex, head: Buffer, { path, findSender }: Route
): Promise<void> {
  let forwarded: ClientRequest | null = null
  socket.on('error', () => { forwarded?.destroy() })
  const send = await findSender()
  if (send === null) {
    refuseUpgrade(socket)
    return
  }
  forwarded = send({
    ...methodAndUrl(request, path),
    headers: { ...pickHeaders(request.headers, WEBSOCKET_HEADERS), connection: 'Upgrade', upgrade: 'websocket' }
  })
  forwarded.on('upgrade', (reply, upstream, first) => {
    writeHead(socket, reply)
    socket.write(first)
    upstream.write(head)
    joinStreams(socket, upstream)
  })
  forwarded.on('response', (reply) => {
    reply.resume()
    refuseUpgrade(socket)
  })
  forwarded.on('error', () => { refuseUpgrade(socket) })
  forwarded.end()
}
