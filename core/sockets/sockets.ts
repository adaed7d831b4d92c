import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { TSchema } from '@sinclair/typebox'
import fp from 'fastify-plugin'
import type { Namespace, Server, Socket } from 'socket.io'
import type { Caller } from '../access/auth.ts'
import { type Config, basePath } from '../config/config.ts'
import { createAddressReader, networkOf } from '../config/networks.ts'
import { trustOf } from '../web/origins.ts'
import { createReader } from '../web/validation.ts'
import type { Scope } from '../access/scopes.ts'
import { type Endpoint, createEndpoint } from './endpoint.ts'
import { createGuestCount } from './guests.ts'
import { SOCKET_PATH, isSocketUpgrade, isSocketUrl, isUpgradeMissing, restorePrefix } from './request.ts'
import { createProxyProblems } from './proxy-problems.ts'
import { type SocketOwner, END_CHANNEL, readEnd } from './end-sockets.ts'
import { limitSockets } from './traffic.ts'
import { asRequest } from '../request-id.ts'

/** Events from server to client with their payload. Each feature adds its own. */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type
export interface ServerEvents {}

/** The description of an event for the document; the schema determines the payload's type. */
export interface EventDescription<Payload> { summary: string, schema: TSchema & { static: Payload } }

/** Descriptions of some events of a map. */
export type EventDescriptions<Events> = { readonly [Name in keyof Events]?: EventDescription<Events[Name]> }

/** An event in the document. */
export interface ListedEvent {
  namespace: string
  name: string
  from: 'server' | 'client'
  summary: string
  schema: TSchema
  /** Scopes that a client needs to send it. */
  scopes: readonly Scope[]
}

export interface ClientEvent<Payload> {
  summary: string
  scopes: readonly Scope[]
  schema: TSchema
  /** Replies to a sender without the scopes, or with an invalid payload. */
  refuse (socket: Socket, reason: string): void
  handle (payload: Payload, caller: Caller, socket: Socket): Promise<void>
}

/** An event with the reader that checks payloads and applies defaults. */
type ReadEvent = ClientEvent<never> & { read: ReturnType<typeof createReader> }

/** Options of an additional namespace of the main endpoint. */
export interface NamespaceOptions {
  /** The error with which every socket is refused; null to accept those that `identify` knows. */
  refusal: string | null
  /**
   * Returns the caller of a socket; a socket without one is refused as `unauthorized`. Called again as long as the
   * socket is open.
   */
  identify (socket: Socket): Promise<Caller | null>
  /** Called when a socket was accepted and can be found. */
  connected (socket: Socket, caller: Caller): void
}

export type Publish<Events> = <Name extends keyof Events & string>(
  room: string, event: Name, payload: Events[Name]
) => void

export interface Sockets {
  /** Publishes to every socket if `room` is null; once to each socket that is in one of several rooms. */
  publish<Name extends keyof ServerEvents> (
    room: string | readonly string[] | null, event: Name, payload: ServerEvents[Name]
  ): void
  /** Returns the number of connections to all processes. Rejects if one of them does not answer. */
  countConnections (): Promise<number>
  /** Disconnects the sockets of an ended session, token, device or account, at every endpoint and in every process. */
  end (owner: SocketOwner): void
  /** Adds a user's open sockets to the administrators' room, or removes them. */
  setAdmin (userId: number, isAdmin: boolean): void
  /** Declares an event that clients may send on the main endpoint. */
  on<Payload> (event: string, definition: ClientEvent<Payload>): void
  /** Describes events of the server for the document. */
  describe<Events = ServerEvents>(events: EventDescriptions<Events>, namespace?: string): void
  /** Returns all events, in the order in which features declare them. */
  listEvents (): ListedEvent[]
  /**
   * Opens a namespace beside the one for browsers.
   *
   * @returns a function that publishes its events
   */
  openNamespace<Events> (name: string, options: NamespaceOptions): Publish<Events>
  /**
   * Opens an endpoint beside the main one, with its own events and rooms. It also accepts guests; a socket with a login
   * session is disconnected when the session ends.
   *
   * @param path below that of the base URL
   */
  openEndpoint (path: string, connected: (socket: Socket) => void): Server
  /** Authenticates a socket's login session again; returns null for a guest and after the session has ended. */
  identify (socket: Socket): Promise<Caller | null>
  /** Returns the network of a socket's client, behind trusted proxies. */
  networkOf (socket: Socket): string
  /** The endpoint for browsers and devices. */
  main: Server
  /** Checks a new request for problems of the proxy: its address and its headers. */
  examine (request: IncomingMessage): void
  /** Returns the HTTP side of each endpoint, for requests that another worker forwards. */
  listEndpoints (): readonly Server[]
  /** True if a request may upgrade: see {@link isSocketUpgrade}. */
  isUpgrade (request: IncomingMessage): boolean
}

declare module 'fastify' {
  interface FastifyInstance { sockets: Sockets }
}

const COUNT_EVENT = 'svc:count'

export const ownerRoom = ({ kind, id }: SocketOwner) => `${kind}:${id}`
export const userRoom = (userId: number) => `user:${userId}`
export const ADMIN_ROOM = 'admin'
/** The room of every socket with an account. */
export const SIGNED_IN_ROOM = 'signed-in'

type Identify = (socket: Socket) => Promise<Caller | null>

/** Returns the rooms by which the sockets of a login session are found when it ends. */
function ownerRooms ({ id, session_id: session }: Caller): string[] {
  return [userRoom(id), ...(session === null ? [] : [ownerRoom({ kind: 'session', id: session })])]
}

function sessionRooms (caller: Caller): string[] {
  const rooms = [SIGNED_IN_ROOM, ...ownerRooms(caller)]
  return caller.role === 'admin' ? [...rooms, ADMIN_ROOM] : rooms
}

function tokenRooms ({ id, token_id: token, device_id: device }: Caller): string[] {
  return [
    userRoom(id),
    ...(token === null ? [] : [ownerRoom({ kind: 'token', id: token })]),
    ...(device === null ? [] : [ownerRoom({ kind: 'device', id: device })])
  ]
}

const CHECK_INTERVAL_MS = 30_000

export interface SocketsOptions {
  config: Config
  /** True if clients connect to this process; the scan worker only publishes. */
  accepts: boolean
  /** The first part of every session id, by which any worker finds the session's owner. */
  workerNumber: number
}

/** True if a page of this origin may open a socket: our own host, or a configured one. */
function isAllowedOrigin (request: IncomingMessage, config: Config): boolean {
  const { origin, cookie } = request.headers
  if (origin === undefined) return true
  const trust = trustOf(origin, config)
  // A browser that sends cookies acts for its user, so only configured sites may use it.
  if (trust === 'named' || (trust === 'any' && cookie === undefined)) return true
  try {
    return new URL(origin).host === request.headers.host || origin === new URL(config.server.base_url).origin
  } catch {
    return false
  }
}

export default fp<SocketsOptions>(async (app, { config, accepts, workerNumber }) => {
  const events = new Map<string, ReadEvent>()
  const sent: ListedEvent[] = []
  /** The sockets of login sessions and tokens in this process, with the function that identifies each. */
  const bound = new Map<Socket, Identify>()
  const identify = (socket: Socket) => app.auth.identifyHandshake(socket.request)
  const warn = (err: unknown) => { app.log.warn({ err }, 'socket could not be identified') }

  const guests = createGuestCount()
  const addressOf = createAddressReader(config.server.trusted_proxies)
  const networkOfRequest = (request: IncomingMessage) => networkOf(addressOf(request))
  const endpoints: Endpoint[] = []

  /** @param channel the prefix of the channels for its events between processes */
  function addEndpoint (path: string, channel: string): Endpoint {
    const endpoint = createEndpoint(app, {
      config,
      path: { path: `${basePath(config)}${path}`, bare: path },
      channel,
      workerNumber,
      isAllowed: isAdmitted,
      connected: (connection) => { guests.add(connection, networkOfRequest(connection.request)) }
    })
    endpoints.push(endpoint)
    return endpoint
  }
  const main = addEndpoint(SOCKET_PATH, 'socket.io')
  const { io } = main
  const proxyProblems = createProxyProblems(io)
  app.decorate('proxyProblems', proxyProblems)

  /** Admits a connection. Callers with a credential are admitted even if their network has too many guests. */
  async function isAdmitted (request: IncomingMessage): Promise<boolean> {
    if (!isAllowedOrigin(request, config)) {
      recordOrigin(request.headers.origin ?? '')
      return false
    }
    return guests.hasRoom(networkOfRequest(request)) || await app.auth.identifyHandshake(request) !== null
  }

  function recordOrigin (origin: string): void {
    if (!proxyProblems.record('origin_refused', origin)) return
    app.log.warn({ origin, base_url: config.server.base_url }, 'pages of this origin may not open sockets: if it is the address ' +
      'of this server, set SVC_BASE_URL to it; if it is another site of yours, add it to SVC_CORS_ALLOWED_ORIGINS')
  }

  const findEndpoint = ({ url = '' }: IncomingMessage) => endpoints.find(({ path: place }) => isSocketUrl(url, place))

  function examine (request: IncomingMessage): void {
    const endpoint = findEndpoint(request)
    if (endpoint === undefined) return
    restorePrefix(request, endpoint.path)
    const { remoteAddress } = request.socket
    if (remoteAddress === undefined) return
    const peer = networkOf(remoteAddress)
    if (request.headers.upgrade !== undefined) {
      proxyProblems.clear('upgrade_missing', peer)
    } else if (isUpgradeMissing(request) && proxyProblems.record('upgrade_missing', peer)) {
      app.log.warn({ address: peer }, 'a proxy at this address does not forward WebSocket upgrades, so sockets use only polling: configure it to ' +
        'forward the headers Upgrade and Connection; examples/self-host has a configuration for each proxy')
    }
  }

  /** Handles the events of a socket one after the other, because a stop event must not overtake its start event. */
  function listen (socket: Socket): void {
    let last = Promise.resolve()
    for (const [name, event] of events) {
      socket.on(name, (payload: unknown) => {
        last = last.then(() => asRequest(crypto.randomUUID(), () => receive(name, event, payload, socket)))
      })
    }
  }

  async function receive (name: string, event: ReadEvent, payload: unknown, socket: Socket): Promise<void> {
    try {
      // Authenticated at each event, because the session may have ended since the handshake.
      const caller = await identify(socket)
      if (caller === null || event.scopes.some((scope) => !caller.scopes.has(scope))) {
        event.refuse(socket, 'You are not authorized to do this')
        return
      }
      const given = payload === undefined || typeof payload === 'function' || payload === null ? {} : payload
      const read = event.read(given)
      if ('problem' in read) event.refuse(socket, read.problem)
      else await event.handle(read.value as never, caller, socket)
    } catch (err) {
      app.log.error({ err, event: name }, 'socket event failed')
      event.refuse(socket, 'The server failed to handle this event; see its log')
    }
  }

  /** Binds a socket to its credential, and disconnects it if its session or token ended meanwhile. */
  async function bind (socket: Socket, rooms: string[], identify: Identify): Promise<void> {
    if (!socket.connected) return
    socket.on('disconnect', () => { bound.delete(socket) })
    bound.set(socket, identify)
    guests.remove(socket.conn)
    await socket.join(rooms)
    // The credential may have ended before the socket could be found by its room.
    await check([socket, identify])
  }

  async function check ([socket, identify]: [Socket, Identify]): Promise<void> {
    const caller = await identify(socket)
    if (caller === null) socket.disconnect(true)
    else if (caller.role !== 'admin') await socket.leave(ADMIN_ROOM)
  }

  async function bindSession (socket: Socket, roomsOf: (caller: Caller) => string[]): Promise<void> {
    const caller = await identify(socket)
    if (caller !== null) await bind(socket, roomsOf(caller), identify)
  }

  /**
   * Closes the connection of a socket that could not be identified. Its client then reconnects, which it would not do
   * after a disconnect packet.
   */
  function disconnectFailed (socket: Socket, err: unknown): void {
    warn(err)
    socket.conn.close()
  }

  io.on('connection', (socket) => {
    listen(socket)
    bindSession(socket, sessionRooms).catch((err: unknown) => { disconnectFailed(socket, err) })
  })

  const namespaces = [io.of('/')]

  /** Accepts sockets whose caller the namespace knows. */
  function guard (namespace: Namespace, { refusal, identify: who, connected }: NamespaceOptions): void {
    const admitted = new WeakMap<Socket, Caller>()

    async function checkSocket (socket: Socket): Promise<string | null> {
      const caller = refusal === null ? await who(socket) : null
      if (caller === null) return refusal ?? 'unauthorized'
      admitted.set(socket, caller)
      return null
    }
    namespace.use((socket, next) => {
      checkSocket(socket).catch((err: unknown) => {
        disconnectFailed(socket, err)
        return 'unavailable'
      }).then((reason) => { next(reason === null ? undefined : new Error(reason)) }, warn)
    })
    namespace.on('connection', (socket) => {
      const caller = admitted.get(socket)
      if (caller === undefined) return
      bind(socket, tokenRooms(caller), who).catch((err: unknown) => { disconnectFailed(socket, err) })
      connected(socket, caller)
    })
    limitSockets(namespace)
  }

  async function checkAll (): Promise<void> {
    for (const one of bound) await check(one).catch(warn)
  }

  let checking: Promise<void> | null = null
  // Sessions and tokens also expire, which is not announced.
  const sweep = setInterval(() => {
    checking ??= checkAll().finally(() => { checking = null })
  }, CHECK_INTERVAL_MS)

  app.decorate('sockets', {
    main: io,
    examine,
    networkOf: (socket) => networkOfRequest(socket.request),
    publish (room, event, payload) {
      // An empty list of rooms would publish to everybody.
      if (Array.isArray(room) && room.length === 0) return
      const target = room === null ? io : io.to(typeof room === 'string' ? room : [...room])
      target.emit(event, payload)
    },
    async countConnections () {
      const others = await io.serverSideEmitWithAck(COUNT_EVENT) as number[]
      return others.reduce((sum, count) => sum + count, main.countHere())
    },
    end (owner) {
      for (const namespace of namespaces) namespace.in(ownerRoom(owner)).disconnectSockets(true)
    },
    setAdmin (userId, isAdmin) {
      const sockets = io.in(userRoom(userId))
      if (isAdmin) sockets.socketsJoin(ADMIN_ROOM)
      else sockets.socketsLeave(ADMIN_ROOM)
    },
    openNamespace (name, options) {
      const namespace = io.of(name)
      namespaces.push(namespace)
      guard(namespace, options)
      return (room, event, payload) => { namespace.to(room).emit(event, payload) }
    },
    on (event, definition) {
      if (events.has(event)) throw new Error(`Socket event '${event}' is declared twice`)
      events.set(event, { ...definition, read: createReader(definition.schema) })
    },
    openEndpoint (path, connected) {
      const { io: server } = addEndpoint(path, path)
      namespaces.push(server.of('/'))
      server.on('connection', (socket) => {
        connected(socket)
        bindSession(socket, ownerRooms).catch((err: unknown) => { disconnectFailed(socket, err) })
      })
      return server
    },
    identify,
    listEndpoints: () => endpoints.map((endpoint) => endpoint.io),
    isUpgrade: (request) => endpoints.some(({ path: place }) => isSocketUpgrade(request, place)),
    describe (described, namespace = '/') {
      for (const [name, description] of Object.entries<EventDescription<unknown> | undefined>(described)) {
        if (description !== undefined) sent.push({ namespace, name, from: 'server', scopes: [], ...description })
      }
    },
    listEvents: () => [
      ...[...events].map(([name, { scopes, summary, schema }]): ListedEvent =>
        ({ namespace: '/', name, from: 'client', summary, schema, scopes })),
      ...sent
    ]
  } satisfies Sockets)

  /** Disconnects the sockets of an owner in this process. */
  function endHere (owner: SocketOwner): void {
    for (const namespace of namespaces) namespace.local.in(ownerRoom(owner)).disconnectSockets(true)
  }

  io.on(COUNT_EVENT, (answer: (count: number) => void) => { answer(main.countHere()) })
  app.addHook('onReady', async () => {
    if (!accepts) return
    await app.workers.listen(END_CHANNEL, (payload) => {
      const who = readEnd(payload)
      if (who !== null) endHere(who)
    })
    for (const endpoint of endpoints) endpoint.attach()
    for (const event of ['request', 'upgrade'] as const) app.server.prependListener(event, examine)
    // A Node version without shouldUpgradeCallback passes every upgrade here, also to other protocols.
    app.server.on('upgrade', (request: IncomingMessage, socket: Duplex) => {
      if (findEndpoint(request) === undefined) socket.destroy()
    })
  })
  app.addHook('preClose', async () => {
    clearInterval(sweep)
    await Promise.all(endpoints.map((endpoint) => endpoint.closeConnections()))
    await checking
  })
  app.addHook('onClose', async () => {
    for (const endpoint of endpoints) await endpoint.close()
  })
}, { name: 'sockets', fastify: '5.x', dependencies: ['database', 'workers', 'auth-core'] })
