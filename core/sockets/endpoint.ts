import type { IncomingMessage } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { createAdapter } from '@socket.io/postgres-adapter'
import type { FastifyInstance } from 'fastify'
import type pg from 'pg'
import { type Namespace, Server } from 'socket.io'
import type { Config } from '../config/config.ts'
import { corsOptionsFor } from '../web/origins.ts'
import { MESSAGE_MAX_BYTES, type SocketPath, checkSocketRequest } from './request.ts'
import { type Connection, limitRate, limitSockets, limitWaiting } from './traffic.ts'

/** socket.io's own values in the version that clients use. */
const PING_INTERVAL_MS = 25_000
const PING_TIMEOUT_MS = 60_000
/**
 * The time for which a polling connection that is closed between two polls stays open, so that its client gets the
 * message. A client that polls later gets an unknown session, and reconnects. The default of half a minute would delay
 * the end of the process, even for clients that vanished.
 */
const CLOSE_TIMEOUT_MS = 200
/** PostgreSQL's limit for a notification is 8000 bytes; every notification must stay below it. */
const NOTIFICATION_MAX_BYTES = 7_900

export interface EndpointOptions {
  config: Config
  path: SocketPath
  /** Carries events between processes. */
  pool: pg.Pool
  /** The prefix of the channels for its events between processes, unique for each endpoint. */
  channel: string
  /** The first part of every session id, by which any worker finds the session's owner. */
  owner: string
  isAllowed (request: IncomingMessage): Promise<boolean>
  /** Called when a connection was opened; its caller is not yet known. */
  connected (connection: Connection): void
}

/** An address for sockets, with its own rooms that no other endpoint reaches. */
export interface Endpoint {
  io: Server
  path: SocketPath
  /** Accepts clients from now on. */
  attach (): void
  /** Returns the number of connections to this process. */
  countHere (): number
  /** Returns the milliseconds since this process sent the last event of any process, or since its start. */
  quietMs (): number
  /** Closes all connections. Clients get no disconnect packet, because that would keep them from reconnecting. */
  closeConnections (): Promise<void>
  close (): Promise<void>
}

/** Creates adapters of namespaces, and knows the time of their last event. */
function createTimedAdapter (createFor: ReturnType<typeof createAdapter>) {
  let lastAt = performance.now()

  // No arrow function, because socket.io calls it as a constructor.
  function create (namespace: Namespace) {
    const adapter = createFor(namespace)
    const { encoder } = namespace.server
    // The adapter encodes each event once before it sends it to its sockets, whichever process published it.
    Reflect.set(adapter, 'encoder', {
      encode (packet: Parameters<typeof encoder.encode>[0]): unknown[] {
        lastAt = performance.now()
        return encoder.encode(packet)
      }
    })
    return adapter
  }
  return { create, quietMs: () => performance.now() - lastAt }
}

async function closeAll (connections: readonly Connection[]): Promise<void> {
  const closing = connections.map((connection) => new Promise<void>((resolve) => {
    connection.once('close', () => { resolve() })
    connection.close()
  }))
  const timeout = new AbortController()
  await Promise.race([
    Promise.all(closing), pause(CLOSE_TIMEOUT_MS * 2, undefined, { signal: timeout.signal }).catch(() => {})
  ])
  timeout.abort()
}

export function createEndpoint (app: FastifyInstance, options: EndpointOptions): Endpoint {
  const { config, pool, path, channel, owner } = options
  const timed = createTimedAdapter(createAdapter(pool, {
    channelPrefix: channel,
    // Payloads too large for a notification go through a table. That takes longer, so smaller events may overtake them.
    payloadThreshold: NOTIFICATION_MAX_BYTES,
    errorHandler: (err: Error) => { app.log.warn({ err }, 'socket adapter failed') }
  }))
  const io = new Server({
    path: path.path,
    pingInterval: PING_INTERVAL_MS,
    pingTimeout: PING_TIMEOUT_MS,
    maxHttpBufferSize: MESSAGE_MAX_BYTES,
    serveClient: false,
    addTrailingSlash: false,
    // The upgrade may be for another endpoint, which handles it later.
    destroyUpgrade: false,
    cors: ({ headers }, answer) => { answer(null, corsOptionsFor(headers.origin, config)) },
    allowRequest: (request, answer) => {
      options.isAllowed(request).then((isAdmitted) => { answer(null, isAdmitted) }, (err: unknown) => {
        app.log.warn({ err }, 'socket could not be identified')
        answer(null, false)
      })
    },
    adapter: timed.create
  })
  limitSockets(io.of('/'))

  let isAttached = false
  let count = 0

  function listConnections (): Connection[] {
    const engine: object | undefined = io.engine
    return Object.values(Reflect.get(engine ?? {}, 'clients') as Record<string, Connection> | undefined ?? {})
  }

  return {
    io,
    path,
    attach () {
      io.attach(app.server)
      isAttached = true
      io.engine.use(checkSocketRequest)
      io.engine.on('connection', (connection: Connection) => {
        // Set before anything can close the connection, because the transport reads the limit when it begins to close.
        Reflect.set(connection.transport, 'closeTimeout', CLOSE_TIMEOUT_MS)
        limitRate(connection)
        limitWaiting(connection)
        options.connected(connection)
      })
      io.engine.generateId = () => `${owner}-${(count++).toString(36)}-${crypto.randomUUID()}`
    },
    countHere: () => isAttached ? io.engine.clientsCount : 0,
    quietMs: timed.quietMs,
    closeConnections: () => closeAll(listConnections()),
    async close () {
      // The app may have failed before the endpoint was attached.
      if (isAttached) await io.close()
      else for (const { adapter } of io._nsps.values()) await adapter.close()
    }
  }
}
