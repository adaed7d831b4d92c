import type { IncomingMessage } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { createAdapter } from '@socket.io/postgres-adapter'
import type { FastifyInstance } from 'fastify'
import { Server } from 'socket.io'
import type { Config } from '../config/config.ts'
import { corsOptionsFor } from '../web/origins.ts'
import { AdapterPool } from './adapter-pool.ts'
import { MESSAGE_MAX_BYTES, type SocketPlace, checkSocketRequest } from './request.ts'
import { type Connection, limitRate, limitSockets, limitWaiting } from './traffic.ts'

/** socket.io's own figures of the served dialect. */
const PING_INTERVAL_MS = 25_000
const PING_TIMEOUT_MS = 60_000
/**
 * How long a connection that polls stays when it is closed between two polls, so that its client hears of it. Who polls
 * later finds the session unknown, and connects again. The usual half minute holds up the end of the process, also for
 * clients that vanished.
 */
const CLOSE_TIMEOUT_MS = 200
/** PostgreSQL's limit for a notification is 8000 bytes, which must not be reached. */
const NOTIFICATION_MAX_BYTES = 7_900

/** One that listens and one that publishes: over several, events would overtake each other. */
const CONNECTIONS = 2

export interface EndpointOptions {
  config: Config
  place: SocketPlace
  /** What its events between processes go by; no two endpoints have the same. */
  channel: string
  /** Goes to the front of every session id, so that any worker can tell whose it is. */
  workerNumber: number
  isAdmitted (request: IncomingMessage): Promise<boolean>
  /** A connection was opened; nobody knows yet whose. */
  connected (connection: Connection): void
}

/** An address of its own for sockets, with rooms that no other endpoint reaches. */
export interface Endpoint {
  io: Server
  place: SocketPlace
  /** Takes clients from now on. */
  attach (): void
  /** How many connections are open to this process. */
  countHere (): number
  /** Closes them. Clients are not told to leave, which would keep them from coming back. */
  closeConnections (): Promise<void>
  close (): Promise<void>
}

/** What its events travel by from process to process. */
function createPool (app: FastifyInstance): AdapterPool {
  const pool = new AdapterPool({ connectionString: app.pg.options.connectionString, max: CONNECTIONS })
  // What was sent meanwhile is lost: clients are to connect again, and look.
  pool.on('connect', (client) => { client.on('error', (err) => { app.workers.restart(err) }) })
  pool.on('error', () => { /* a connection's own error, which was told above */ })
  return pool
}

async function closeAll (connections: readonly Connection[]): Promise<void> {
  const closing = connections.map((connection) => new Promise<void>((resolve) => {
    connection.once('close', () => { resolve() })
    connection.close()
  }))
  const late = new AbortController()
  await Promise.race([
    Promise.all(closing), pause(CLOSE_TIMEOUT_MS * 2, undefined, { signal: late.signal }).catch(() => {})
  ])
  late.abort()
}

export function createEndpoint (app: FastifyInstance, options: EndpointOptions): Endpoint {
  const { config, place, channel, workerNumber } = options
  const pool = createPool(app)
  const io = new Server({
    path: place.path,
    pingInterval: PING_INTERVAL_MS,
    pingTimeout: PING_TIMEOUT_MS,
    maxHttpBufferSize: MESSAGE_MAX_BYTES,
    serveClient: false,
    addTrailingSlash: false,
    // It may be for another endpoint, which is still about to answer.
    destroyUpgrade: false,
    cors: ({ headers }, answer) => { answer(null, corsOptionsFor(headers.origin, config)) },
    allowRequest: (request, answer) => {
      options.isAdmitted(request).then((isIn) => { answer(null, isIn) }, (err: unknown) => {
        app.log.warn({ err }, 'socket could not be identified')
        answer(null, false)
      })
    },
    // What is too large for a notification goes through a table, which takes longer: smaller events may overtake it.
    adapter: createAdapter(pool, {
      channelPrefix: channel,
      payloadThreshold: NOTIFICATION_MAX_BYTES,
      errorHandler: (err: Error) => { app.log.warn({ err }, 'socket adapter failed') }
    })
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
    place,
    attach () {
      io.attach(app.server)
      isAttached = true
      io.engine.use(checkSocketRequest)
      io.engine.on('connection', (connection: Connection) => {
        // Before anything can end it: the time limit is taken when the transport begins to close.
        Reflect.set(connection.transport, 'closeTimeout', CLOSE_TIMEOUT_MS)
        limitRate(connection)
        limitWaiting(connection)
        options.connected(connection)
      })
      io.engine.generateId = () => `${workerNumber}-${process.pid.toString(36)}-${(count++).toString(36)}-${crypto.randomUUID()}`
    },
    countHere: () => isAttached ? io.engine.clientsCount : 0,
    closeConnections: () => closeAll(listConnections()),
    async close () {
      // An app that failed before is closed as well.
      if (isAttached) await io.close()
      else for (const { adapter } of io._nsps.values()) await adapter.close()
      await pool.close()
    }
  }
}
