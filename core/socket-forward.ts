import { rmSync } from 'node:fs'
import {
  Agent, type IncomingHttpHeaders, type IncomingMessage, type Server as HttpServer, type ServerResponse, createServer,
  request as sendRequest
} from 'node:http'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import type { Server as SocketServer } from 'socket.io'
import type { App } from './typebox.ts'

type Engine = SocketServer['engine']

/**
 * A socket session lives in one web worker, and long polling sends its requests to whichever worker is free. The
 * session id begins with its owner's worker number and process number (core/sockets.ts), so that any other worker can
 * hand the request over to the owner, on a local socket named after both.
 */
const SESSION_OWNER = /^(\d{1,4})-([0-9a-z]{1,8})-/
/** The client's own address, between two workers only. */
const CLIENT_HEADER = 'x-svc-client-address'
/** As much as the owner itself takes in one message. */
const BODY_MAX_BYTES = 1_000_000
/** https://www.rfc-editor.org/rfc/rfc9110#section-7.6.1 */
const HOP_BY_HOP = ['connection', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'proxy-connection', 'te',
  'trailer', 'transfer-encoding', 'upgrade']
/** How long a connection between two workers is kept without use. */
const KEEP_ALIVE_MS = 60_000
/** What engine.io itself answers for a session that is gone; the client then opens a new one. */
const UNKNOWN_SESSION = JSON.stringify({ code: 1, message: 'Session ID unknown' })
const TOO_LARGE = JSON.stringify({ detail: `The request is larger than ${BODY_MAX_BYTES} bytes` })

const ownerOf = (workerNumber: number, pid = process.pid) => `${workerNumber}-${pid.toString(36)}`

/** The local socket of one web worker. */
export function ownerSocket (folder: string, owner: string): string {
  return process.platform === 'win32'
    ? `\\\\.\\pipe\\svc-${Buffer.from(folder).toString('base64url').slice(-60)}-${owner}`
    : join(folder, `web-${owner}.sock`)
}

/** Which worker a request is for: null when it opens a session or is none of ours. */
export function readOwner (url: string, path: string): string | null {
  const [pathname = '', query = ''] = url.split('?', 2)
  if (pathname !== path && pathname !== `${path}/`) return null
  const owner = SESSION_OWNER.exec(new URLSearchParams(query).get('sid') ?? '')
  return owner === null ? null : `${owner[1]}-${owner[2]}`
}

/** The headers without those that are about one connection only. */
export function endToEndHeaders (headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const named = (headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase())
  const dropped = new Set([...HOP_BY_HOP, ...named])
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !dropped.has(name)))
}

function toOwner (
  request: IncomingMessage, socketPath: string, agent: Agent | false, extra: Record<string, string> = {}
) {
  return sendRequest({
    agent,
    socketPath,
    method: request.method ?? 'GET',
    path: request.url ?? '/',
    headers: {
      ...endToEndHeaders(request.headers),
      ...extra,
      [CLIENT_HEADER]: request.socket.remoteAddress ?? ''
    }
  })
}

function answer (response: ServerResponse, status: number, body: string): void {
  if (response.headersSent) {
    response.destroy()
    return
  }
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' }).end(body)
}

/** Hands one polling request over and pipes the answer back. */
function forwardRequest (
  request: IncomingMessage, response: ServerResponse, socketPath: string, agent: Agent
): void {
  if (Number(request.headers['content-length'] ?? 0) > BODY_MAX_BYTES) {
    answer(response, 413, TOO_LARGE)
    return
  }
  const forwarded = toOwner(request, socketPath, agent)
  let size = 0
  request.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size <= BODY_MAX_BYTES) return
    answer(response, 413, TOO_LARGE)
    forwarded.destroy()
  })
  request.pipe(forwarded)
  // The client went away: the owner must not keep its answer for nobody.
  response.once('close', () => { forwarded.destroy() })
  forwarded.on('response', (reply) => {
    response.writeHead(reply.statusCode ?? 502, endToEndHeaders(reply.headers))
    reply.pipe(response)
    reply.on('error', () => { response.destroy() })
  })
  forwarded.on('error', () => { answer(response, 400, UNKNOWN_SESSION) })
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

/** Hands a WebSocket over: both sides talk through this worker from then on. */
function forwardUpgrade (request: IncomingMessage, socket: Duplex, head: Buffer, socketPath: string): void {
  const forwarded = toOwner(request, socketPath, false, { connection: 'Upgrade', upgrade: 'websocket' })
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

/** Answers what other workers hand over. */
function createOwnerServer (engine: Engine, path: string): HttpServer {
  const adopt = (request: IncomingMessage) => {
    const address = request.headers[CLIENT_HEADER]

    delete request.headers[CLIENT_HEADER]
    Object.defineProperty(request.socket, 'remoteAddress', { value: address, configurable: true })
    return readOwner(request.url ?? '', path) !== null
  }
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    if (adopt(request)) engine.handleRequest(request, response)
    else answer(response, 404, UNKNOWN_SESSION)
  })
  server.on('upgrade', (request, socket, head) => {
    if (adopt(request)) engine.handleUpgrade(request, socket, head)
    else socket.destroy()
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

/** Lets `divert` have a look at each event first; what it does not take goes on to those who listened before. */
function intercept (server: HttpServer, event: 'request' | 'upgrade', divert: (...args: never[]) => boolean): void {
  const before = server.listeners(event) as Listener[]
  server.removeAllListeners(event)
  server.on(event, (...args: unknown[]) => {
    if (divert(...args as never[])) return
    for (const listener of before) listener.apply(server, args)
  })
}

/**
 * Makes long polling, and the step from it to a WebSocket, work with any number of web workers on one machine. To be
 * called before the app is ready. The folder must be closed to other users: whoever can open a socket there can talk in
 * any session.
 */
export async function forwardForeignSessions (app: App, folder: string, workerNumber: number): Promise<void> {
  const own = ownerOf(workerNumber)
  const socketPath = ownerSocket(folder, own)
  const path = app.sockets.main.path()
  let server: HttpServer | null = null
  // Kept open: an owner that closes after its answer would make the last write to it fail, and the answer be lost.
  const agent = new Agent({ keepAlive: true })

  const foreignOwner = (request: IncomingMessage) => {
    const owner = readOwner(request.url ?? '', path)
    return owner === null || owner === own ? null : ownerSocket(folder, owner)
  }

  app.addHook('onReady', async () => {
    server = createOwnerServer(app.sockets.main.engine, path)
    if (process.platform !== 'win32') rmSync(socketPath, { force: true })
    await listen(server, socketPath)
    intercept(app.server, 'request', (request: IncomingMessage, response: ServerResponse) => {
      const target = foreignOwner(request)
      if (target !== null) forwardRequest(request, response, target, agent)
      return target !== null
    })
    intercept(app.server, 'upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      const target = foreignOwner(request)
      if (target !== null) forwardUpgrade(request, socket, head, target)
      return target !== null
    })
  })
  app.addHook('preClose', async () => {
    server?.close()
  })
  app.addHook('onClose', async () => {
    server?.closeAllConnections()
    agent.destroy()
  })
}
