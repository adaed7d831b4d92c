import { rmSync } from 'node:fs'
import type { IncomingMessage, Server as HttpServer, ServerResponse } from 'node:http'
import type { ListenOptions } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Server as SocketServer } from 'socket.io'
import type { Host } from '../process/host.ts'
import { createServer, request as sendRequest } from '../process/node-http.ts'
import { type Route, type Send, answerUnknown, forwardRequest, forwardUpgrade } from './forward-request.ts'
import { createLinkServer, explainLinkError, sendToHost, splitAddress } from './host-link.ts'
import { ownerSocket } from './owner-socket.ts'
import { checkSocketRequest } from './request.ts'
import { type SessionOwner, ownerKey, readOwner } from './session-owner.ts'
import type { App } from '../typebox.ts'

/**
 * A socket session lives in one web worker, but long polling sends its requests to any free worker of any host. The
 * session id begins with its owner (session-owner.ts). Any other worker can therefore forward a request to the owner:
 * on the same machine over a local socket named after the owner, to another host over that host's internal address.
 */

/** The owner and the endpoint of the session that a request belongs to. */
interface SessionLocation { owner: SessionOwner, endpoint: SocketServer }

/** Creates the function that finds the session of a request. */
const createSessionFinder = (app: App) => (request: IncomingMessage): SessionLocation | null => {
  for (const endpoint of app.sockets.listEndpoints()) {
    const owner = readOwner(request.url ?? '', endpoint.path())
    if (owner !== null) return { owner, endpoint }
  }
  return null
}

interface Handlers {
  request (request: IncomingMessage, response: ServerResponse): void
  upgrade (request: IncomingMessage, socket: Duplex, head: Buffer): void
}

/**
 * Creates the handlers of requests that other processes forward. `findRoute` returns the route of a request whose owner
 * is another process; null to refuse the request.
 */
function createHandlers (
  findSession: ReturnType<typeof createSessionFinder>, key: string, findRoute: (found: SessionLocation) => Route | null
): Handlers {
  return {
    request (request, response) {
      const found = findSession(request)
      if (found?.owner.key === key) {
        found.endpoint.engine.handleRequest(request, response)
        return
      }
      const route = found === null ? null : findRoute(found)
      if (route === null) answerUnknown(response)
      else forwardRequest(request, response, route).catch(() => { response.destroy() })
    },
    upgrade (request, socket, head) {
      const found = findSession(request)
      if (found?.owner.key === key) {
        found.endpoint.engine.handleUpgrade(request, socket, head)
        return
      }
      const route = found === null ? null : findRoute(found)
      if (route === null) socket.destroy()
      else forwardUpgrade(request, socket, head, route).catch(() => { socket.destroy() })
    }
  }
}

/** Prepares a server for forwarded requests: each connection carries one request. */
function prepareServer (server: HttpServer, { upgrade }: Handlers): HttpServer {
  server.maxRequestsPerSocket = 1
  return server.on('upgrade', upgrade)
}

function listen (server: HttpServer, options: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(options, () => {
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

export interface ForwardOptions {
  /**
   * The folder of local sockets. It must be closed to other users, because anyone who can open a socket there can act
   * in any session.
   */
  folder: string
  host: Host
  workerNumber: number
}

/** Creates the functions that open connections to the owners of sessions. */
function createSenders (app: App, { folder, host }: ForwardOptions, secret: Uint8Array) {
  /** Hosts that could not be reached and were logged. */
  const reported = new Set<string>()

  const toLocal = ({ key }: SessionOwner): Send => (options) =>
    sendRequest({ ...options, agent: false, socketPath: ownerSocket(folder, key) })

  const toHost = (hostId: string, address: string): Send => (options) => sendToHost({
    address,
    key: secret,
    onUnreachable (err) {
      if (reported.has(hostId)) return
      reported.add(hostId)
      app.log.warn({ err, host: hostId, address }, 'another host cannot be reached: give all hosts the same SVC_AUTH_SECRET_KEY, and each ' +
        'an SVC_INTERNAL_ADDRESS that the others reach')
    }
  }, options)

  async function findSender (owner: SessionOwner): Promise<Send | null> {
    if (owner.hostId === host.id) return toLocal(owner)
    const address = await app.workers.findAddress(owner.hostId)
    if (address === undefined) return null
    // A server without an internal address may run on the same machine and data directory.
    return address === null ? toLocal(owner) : toHost(owner.hostId, address)
  }
  return { toLocal, findSender }
}

/** Listens for the other processes of this machine, which reach all sessions of this process. */
async function listenHere (handlers: Handlers, socketPath: string): Promise<HttpServer> {
  const server = prepareServer(createServer(handlers.request), handlers)
  if (process.platform !== 'win32') rmSync(socketPath, { force: true })
  // Exclusive: in a cluster the primary would otherwise listen and pass connections on.
  await listen(server, { path: socketPath, exclusive: true })
  return server
}

/** Listens for other hosts. All web workers of a host share the address, so the one that accepts forwards a request. */
async function listenToHosts (handlers: Handlers, address: string, secret: Uint8Array): Promise<HttpServer> {
  const server = prepareServer(createLinkServer(secret, handlers.request), handlers)
  await listen(server, splitAddress(address)).catch((err: unknown) => { throw explainLinkError(err, address) })
  return server
}

/**
 * Forwards requests of sessions that live in other processes. `findRoute` returns null for all other requests, which
 * this process handles itself.
 */
function interceptForeign ({ server }: App, findRoute: (request: IncomingMessage) => Route | null): void {
  intercept(server, 'request', (request: IncomingMessage, response: ServerResponse) => {
    // Every worker can answer a CORS preflight itself.
    const route = request.method === 'OPTIONS' ? null : findRoute(request)
    if (route === null) return false
    checkSocketRequest(request, response, () => {
      forwardRequest(request, response, route).catch(() => { response.destroy() })
    })
    return true
  })
  intercept(server, 'upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const route = findRoute(request)
    if (route !== null) forwardUpgrade(request, socket, head, route).catch(() => { socket.destroy() })
    return route !== null
  })
}

/**
 * Makes long polling, and the upgrade to a WebSocket, work with any number of web workers. Call it before the app is
 * ready.
 */
export async function forwardForeignSessions (app: App, options: ForwardOptions): Promise<void> {
  const { folder, host, workerNumber } = options
  const key = ownerKey(host.id, workerNumber)
  const secret = app.secrets.key('host-link')
  const findSession = createSessionFinder(app)
  const { toLocal, findSender } = createSenders(app, options, secret)
  const servers: HttpServer[] = []

  function findRoute (request: IncomingMessage): Route | null {
    app.sockets.examine(request)
    const found = findSession(request)
    if (found === null || found.owner.key === key) return null
    return { path: found.endpoint.path(), findSender: () => findSender(found.owner) }
  }

  app.addHook('onReady', async () => {
    servers.push(await listenHere(createHandlers(findSession, key, () => null), ownerSocket(folder, key)))
    if (host.address !== null) {
      // A request for another host is refused, because two hosts could otherwise pass it to each other for ever.
      const handlers = createHandlers(findSession, key, ({ owner, endpoint }) =>
        owner.hostId === host.id ? { path: endpoint.path(), findSender: async () => toLocal(owner) } : null)
      servers.push(await listenToHosts(handlers, host.address, secret))
    }
    interceptForeign(app, findRoute)
  })
  app.addHook('preClose', async () => {
    for (const server of servers) server.close()
  })
  app.addHook('onClose', async () => {
    for (const server of servers) server.closeAllConnections()
  })
}
