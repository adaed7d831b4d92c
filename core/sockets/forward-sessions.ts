import { rmSync } from 'node:fs'
import {
  type IncomingHttpHeaders, type IncomingMessage, type OutgoingHttpHeaders, type Server as HttpServer,
  type ServerResponse, createServer, request as sendRequest
} from 'node:http'
import { type Duplex, pipeline } from 'node:stream'
import type { Server as SocketServer } from 'socket.io'
import { ownerSocket } from './owner-socket.ts'
import { checkSocketRequest, isSocketUrl, readSocketBody } from './request.ts'
import type { App } from '../typebox.ts'

/**
 * A socket session lives in one web worker, but long polling sends its requests to any free worker. The session id
 * begins with its worker's number and process id (core/sockets/endpoint.ts). Any other worker can therefore forward a
 * request to the owner, over a local socket named after both.
 *
 * No request is forwarded as received. The owner gets a new request on a separate connection: the method, a rebuilt
 * URL, the few headers that the transports read, and the complete body.
 */
const SESSION_OWNER = /^(\d{1,4})-([0-9a-z]{1,8})-/
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

const ownerOf = (workerNumber: number, pid = process.pid) => `${workerNumber}-${pid.toString(36)}`

const queryOf = (url: string) => new URLSearchParams(url.split('?', 2)[1] ?? '')

/** Returns the worker that owns the session of a request; null if the request opens a session or is for no endpoint. */
export function readOwner (url: string, path: string): string | null {
  if (!isSocketUrl(url, { path, bare: path })) return null
  const owner = SESSION_OWNER.exec(queryOf(url).get('sid') ?? '')
  return owner === null ? null : `${owner[1]}-${owner[2]}`
}

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

function answerUnknown (response: ServerResponse): void {
  if (response.headersSent) response.destroy()
  else response.writeHead(400, { 'content-type': 'application/json' }).end(UNKNOWN_SESSION)
}

/** A worker's local socket and the path of the endpoint. */
interface Owner { socketPath: string, path: string }

/** Creates a request to the owner on a separate connection. */
function toOwner (request: IncomingMessage, { socketPath, path }: Owner, headers: OutgoingHttpHeaders) {
  const { method = 'GET', url = '' } = request
  return sendRequest({ agent: false, socketPath, method, path: rebuildUrl(url, path), headers })
}

/** Forwards one polling request and returns the response. */
function exchange (request: IncomingMessage, response: ServerResponse, owner: Owner, body: Buffer): void {
  const forwarded = toOwner(request, owner, {
    ...pickHeaders(request.headers, POLLING_HEADERS),
    ...(request.method === 'POST' ? { 'content-length': body.length } : {})
  })
  // The client is gone, so the owner must not hold its response.
  response.once('close', () => { forwarded.destroy() })
  forwarded.on('response', (reply) => {
    response.writeHead(reply.statusCode ?? 502, pickHeaders(reply.headers, ANSWER_HEADERS))
    pipeline(reply, response, () => {})
  })
  forwarded.on('error', () => { answerUnknown(response) })
  forwarded.end(body)
}

function forwardRequest (request: IncomingMessage, response: ServerResponse, owner: Owner): void {
  readSocketBody(request, response).then((body) => {
    if (body !== null) exchange(request, response, owner, body)
  }, () => { response.destroy() })
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

/** Forwards a WebSocket; from then on both sides communicate through this worker. */
function forwardUpgrade (request: IncomingMessage, socket: Duplex, head: Buffer, owner: Owner): void {
  const forwarded = toOwner(request, owner, {
    ...pickHeaders(request.headers, WEBSOCKET_HEADERS), connection: 'Upgrade', upgrade: 'websocket'
  })
  const refuse = () => {
    socket.end(`HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: ${UNKNOWN_SESSION.length}\r\n\r\n` +
      UNKNOWN_SESSION)
  }
  forwarded.on('upgrade', (reply, upstream, first) => {
    writeHead(socket, reply)
    socket.write(first)
    upstream.write(head)
    joinStreams(socket, upstream)
  })
  forwarded.on('response', (reply) => {
    reply.resume()
    refuse()
  })
  forwarded.on('error', refuse)
  socket.on('error', () => { forwarded.destroy() })
  forwarded.end()
}

/** Creates the server for requests from other workers, with one exchange per connection. */
function createOwnerServer (endpoints: readonly SocketServer[], ownerKey: string): HttpServer {
  const findEngine = ({ url = '' }: IncomingMessage) =>
    endpoints.find((endpoint) => readOwner(url, endpoint.path()) === ownerKey)?.engine
  const server = createServer((request, response) => {
    const engine = findEngine(request)
    if (engine === undefined) answerUnknown(response)
    else engine.handleRequest(request, response)
  })
  server.maxRequestsPerSocket = 1
  server.on('upgrade', (request, socket, head) => {
    const engine = findEngine(request)
    if (engine === undefined) socket.destroy()
    else engine.handleUpgrade(request, socket, head)
  })
  return server
}

function listen (server: HttpServer, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    // Exclusive: in a cluster the primary would otherwise listen and pass connections on.
    server.listen({ path, exclusive: true }, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

type Listener = (...args: unknown[]) => void

/** Passes each event to `handle` first; events that it does not handle go to the former listeners. */
function intercept (server: HttpServer, event: 'request' | 'upgrade', handle: (...args: never[]) => boolean): void {
  const before = server.listeners(event) as Listener[]
  server.removeAllListeners(event)
  server.on(event, (...args: unknown[]) => {
    if (handle(...args as never[])) return
    for (const listener of before) listener.apply(server, args)
  })
}

/**
 * Makes long polling, and the upgrade to a WebSocket, work with any number of web workers on one machine. Call it
 * before the app is ready. The folder must be closed to other users, because anyone who can open a socket there can act
 * in any session.
 */
export async function forwardForeignSessions (app: App, folder: string, workerNumber: number): Promise<void> {
  const ownerKey = ownerOf(workerNumber)
  const socketPath = ownerSocket(folder, ownerKey)
  let server: HttpServer | null = null

  function findOwner (request: IncomingMessage): Owner | null {
    app.sockets.examine(request)
    for (const endpoint of app.sockets.listEndpoints()) {
      const path = endpoint.path()
      const owner = readOwner(request.url ?? '', path)
      if (owner !== null && owner !== ownerKey) return { socketPath: ownerSocket(folder, owner), path }
    }
    return null
  }

  app.addHook('onReady', async () => {
    server = createOwnerServer(app.sockets.listEndpoints(), ownerKey)
    if (process.platform !== 'win32') rmSync(socketPath, { force: true })
    await listen(server, socketPath)
    intercept(app.server, 'request', (request: IncomingMessage, response: ServerResponse) => {
      // Every worker can answer a CORS preflight itself.
      const owner = request.method === 'OPTIONS' ? null : findOwner(request)
      if (owner === null) return false
      checkSocketRequest(request, response, () => { forwardRequest(request, response, owner) })
      return true
    })
    intercept(app.server, 'upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      const owner = findOwner(request)
      if (owner !== null) forwardUpgrade(request, socket, head, owner)
      return owner !== null
    })
  })
  app.addHook('preClose', async () => {
    server?.close()
  })
  app.addHook('onClose', async () => {
    server?.closeAllConnections()
  })
}
