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
import { SOCKET_PATH, isSocketUpgrade, isSocketUrl, lacksUpgrade, restorePrefix } from './request.ts'
import { createSigns } from './proxy-signs.ts'
import { type SocketOwner, END_CHANNEL, readEnd } from './end-sockets.ts'
import { limitSockets } from './traffic.ts'
import { asRequest } from '../request-id.ts'

/** Server to client: event → payload. Each feature adds its own. */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type
export interface ServerEvents {}

/** What the document says of an event: its payload's type is that of the schema. */
export interface EventDescription<Payload> { summary: string, schema: TSchema & { static: Payload } }

/** Some of the events of a map. */
export type EventDescriptions<Events> = { readonly [Name in keyof Events]?: EventDescription<Events[Name]> }

/** An event as the document lists it. */
export interface ListedEvent {
  namespace: string
  name: string
  from: 'server' | 'client'
  summary: string
  schema: TSchema
  /** What a client needs that sends it. */
  scopes: readonly Scope[]
}

export interface ClientEvent<Payload> {
  summary: string
  scopes: readonly Scope[]
  schema: TSchema
  /** Answers a sender that may not, or whose payload is wrong. */
  refuse (socket: Socket, reason: string): void
  handle (payload: Payload, caller: Caller, socket: Socket): Promise<void>
}

/** An event with what checks its payloads and fills their defaults in. */
type ReadEvent = ClientEvent<never> & { read: ReturnType<typeof createReader> }

/** A further namespace of the main endpoint. */
export interface NamespaceOptions {
  /** The word with which everybody is refused; null to let in those whom `identify` knows. */
  refusal: string | null
  /** Whose a socket is; null for nobody, who is refused as `unauthorized`. Asked again for as long as it is open. */
  identify (socket: Socket): Promise<Caller | null>
  /** A socket was let in and can be found. */
  connected (socket: Socket, caller: Caller): void
}

export type Publish<Events> = <Name extends keyof Events & string>(
  room: string, event: Name, payload: Events[Name]
) => void

export interface Sockets {
  /** To every socket when `room` is null; once to each socket that is in one of several rooms. */
  publish<Name extends keyof ServerEvents> (
    room: string | readonly string[] | null, event: Name, payload: ServerEvents[Name]
  ): void
  /** How many connections are open to all other processes and this one. Rejects when one of them does not answer. */
  countConnections (): Promise<number>
  /** Disconnects what an ended session, token, device or account has open, at every endpoint and in every process. */
  end (who: SocketOwner): void
  /** Lets a user's open sockets into the administrators' room, or puts them out of it. */
  setAdmin (userId: number, isAdmin: boolean): void
  /** Declares an event clients may send on the main endpoint. */
  on<Payload> (event: string, definition: ClientEvent<Payload>): void
  /** Says for the document what the server sends. */
  describe<Events = ServerEvents>(events: EventDescriptions<Events>, namespace?: string): void
  /** All that travels, in the order in which features declare it. */
  listEvents (): ListedEvent[]
  /**
   * Opens a namespace beside the one that browsers use.
   *
   * @returns what sends its events
   */
  openNamespace<Events> (name: string, options: NamespaceOptions): Publish<Events>
  /**
   * Opens an endpoint beside the main one, whose events and rooms are its own. Guests get in as well; whoever has a
   * login session is sent away when that ends.
   *
   * @param path below that of the base URL
   */
  openEndpoint (path: string, connected: (socket: Socket) => void): Server
  /** Who opened a socket by a login session, asked anew; null for a guest, and once that has ended. */
  identify (socket: Socket): Promise<Caller | null>
  /** The network that a socket comes from, behind proxies that are trusted. */
  networkOf (socket: Socket): string
  /** The endpoint of browsers and devices. */
  main: Server
  /** Looks at a request that just came: at its address, and at what a proxy did to it. */
  examine (request: IncomingMessage): void
  /** Each endpoint's own HTTP side, for requests that another worker hands over. */
  listEndpoints (): readonly Server[]
  /** Whether a request may leave HTTP: see {@link isSocketUpgrade}. */
  isUpgrade (request: IncomingMessage): boolean
}

declare module 'fastify' {
  interface FastifyInstance { sockets: Sockets }
}

const COUNT_EVENT = 'svc:count'

export const ownerRoom = ({ kind, id }: SocketOwner) => `${kind}:${id}`
export const userRoom = (userId: number) => `user:${userId}`
export const ADMIN_ROOM = 'admin'
/** Every socket with an account. */
export const SIGNED_IN_ROOM = 'signed-in'

type Identify = (socket: Socket) => Promise<Caller | null>

/** By which the sockets of a login session are found when they are to end. */
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
  /** Whether clients connect here; the scan worker only publishes. */
  accepts: boolean
  /** Goes to the front of every session id, so that any worker can tell whose it is. */
  workerNumber: number
}

/** Whether a page of this origin may open a socket: our own host, or one that the configuration names. */
function isAllowedOrigin (request: IncomingMessage, config: Config): boolean {
  const { origin, cookie } = request.headers
  if (origin === undefined) return true
  const trust = trustOf(origin, config)
  // A browser that sends cookies acts for its user, which only a site that was chosen may make it do.
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
  /** Sockets of login sessions and tokens in this process, and how to tell whether each may stay. */
  const bound = new Map<Socket, Identify>()
  const identify = (socket: Socket) => app.auth.identifyHandshake(socket.request)
  const warn = (err: unknown) => { app.log.warn({ err }, 'socket could not be identified') }

  const guests = createGuestCount()
  const addressOf = createAddressReader(config.server.trusted_proxies)
  const networkOfRequest = (request: IncomingMessage) => networkOf(addressOf(request))
  const endpoints: Endpoint[] = []

  /** @param channel what its events between processes go by */
  function addEndpoint (path: string, channel: string): Endpoint {
    const endpoint = createEndpoint(app, {
      config,
      place: { path: `${basePath(config)}${path}`, bare: path },
      channel,
      workerNumber,
      isAdmitted,
      connected: (connection) => { guests.add(connection, networkOfRequest(connection.request)) }
    })
    endpoints.push(endpoint)
    return endpoint
  }
  const main = addEndpoint(SOCKET_PATH, 'socket.io')
  const { io } = main
  const signs = createSigns(io)
  app.decorate('signs', signs)

  /** Who is signed in gets in however many guests of the same network are there. */
  async function isAdmitted (request: IncomingMessage): Promise<boolean> {
    if (!isAllowedOrigin(request, config)) {
      noteOrigin(request.headers.origin ?? '')
      return false
    }
    return guests.hasRoom(networkOfRequest(request)) || await app.auth.identifyHandshake(request) !== null
  }

  function noteOrigin (origin: string): void {
    if (!signs.note('origin_refused', origin)) return
    app.log.warn({ origin, base_url: config.server.base_url }, 'pages of this origin may not open sockets: if it is the address ' +
      'of this server, set SVC_BASE_URL to it; if it is a site of yours, name it in SVC_CORS_ALLOWED_ORIGINS')
  }

  const findEndpoint = ({ url = '' }: IncomingMessage) => endpoints.find(({ place }) => isSocketUrl(url, place))

  function examine (request: IncomingMessage): void {
    const endpoint = findEndpoint(request)
    if (endpoint === undefined) return
    restorePrefix(request, endpoint.place)
    const { remoteAddress } = request.socket
    if (remoteAddress === undefined) return
    const peer = networkOf(remoteAddress)
    if (request.headers.upgrade !== undefined) {
      signs.clear('upgrade_missing', peer)
    } else if (lacksUpgrade(request) && signs.note('upgrade_missing', peer)) {
      app.log.warn({ address: peer }, 'a proxy at this address does not forward WebSocket upgrades, so that sockets poll: have it ' +
        'pass on the headers Upgrade and Connection; examples/self-host has a configuration for each proxy')
    }
  }

  /** One event of a socket after the other: what ends something must not overtake what starts it. */
  function listen (socket: Socket): void {
    let turn = Promise.resolve()
    for (const [name, event] of events) {
      socket.on(name, (payload: unknown) => {
        turn = turn.then(() => asRequest(crypto.randomUUID(), () => receive(name, event, payload, socket)))
      })
    }
  }

  async function receive (name: string, event: ReadEvent, payload: unknown, socket: Socket): Promise<void> {
    try {
      // Asked anew at each event: the session may have ended since the handshake.
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
      event.refuse(socket, 'The server could not do this; see its log')
    }
  }

  /** Binds a socket to what opened it; one whose session or token ended meanwhile is sent away. */
  async function bind (socket: Socket, rooms: string[], who: Identify): Promise<void> {
    if (!socket.connected) return
    socket.on('disconnect', () => { bound.delete(socket) })
    bound.set(socket, who)
    guests.remove(socket.conn)
    await socket.join(rooms)
    // It may have ended before the socket could be found by its room.
    await check([socket, who])
  }

  async function check ([socket, who]: [Socket, Identify]): Promise<void> {
    const caller = await who(socket)
    if (caller === null) socket.disconnect(true)
    else if (caller.role !== 'admin') await socket.leave(ADMIN_ROOM)
  }

  async function bindSession (socket: Socket, roomsOf: (caller: Caller) => string[]): Promise<void> {
    const caller = await identify(socket)
    if (caller !== null) await bind(socket, roomsOf(caller), identify)
  }

  /** Nobody knows whose a socket is: its client is to connect again, which it does when only the connection ends. */
  function giveUp (socket: Socket, err: unknown): void {
    warn(err)
    socket.conn.close()
  }

  io.on('connection', (socket) => {
    listen(socket)
    bindSession(socket, sessionRooms).catch((err: unknown) => { giveUp(socket, err) })
  })

  const namespaces = [io.of('/')]

  /** Lets in whom a namespace knows. */
  function guard (namespace: Namespace, { refusal, identify: who, connected }: NamespaceOptions): void {
    const admitted = new WeakMap<Socket, Caller>()

    async function admit (socket: Socket): Promise<string | null> {
      const caller = refusal === null ? await who(socket) : null
      if (caller === null) return refusal ?? 'unauthorized'
      admitted.set(socket, caller)
      return null
    }
    namespace.use((socket, next) => {
      admit(socket).catch((err: unknown) => {
        giveUp(socket, err)
        return 'unavailable'
      }).then((reason) => { next(reason === null ? undefined : new Error(reason)) }, warn)
    })
    namespace.on('connection', (socket) => {
      const caller = admitted.get(socket)
      if (caller === undefined) return
      bind(socket, tokenRooms(caller), who).catch((err: unknown) => { giveUp(socket, err) })
      connected(socket, caller)
    })
    limitSockets(namespace)
  }

  async function checkAll (): Promise<void> {
    for (const one of bound) await check(one).catch(warn)
  }

  let checking: Promise<void> | null = null
  // Sessions and tokens also end by running out, which nobody announces.
  const sweep = setInterval(() => {
    checking ??= checkAll().finally(() => { checking = null })
  }, CHECK_INTERVAL_MS)

  app.decorate('sockets', {
    main: io,
    examine,
    networkOf: (socket) => networkOfRequest(socket.request),
    publish (room, event, payload) {
      // To no room at all would be to everybody.
      if (Array.isArray(room) && room.length === 0) return
      const target = room === null ? io : io.to(typeof room === 'string' ? room : [...room])
      target.emit(event, payload)
    },
    async countConnections () {
      const others = await io.serverSideEmitWithAck(COUNT_EVENT) as number[]
      return others.reduce((sum, count) => sum + count, main.countHere())
    },
    end (who) {
      for (const namespace of namespaces) namespace.in(ownerRoom(who)).disconnectSockets(true)
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
        bindSession(socket, ownerRooms).catch((err: unknown) => { giveUp(socket, err) })
      })
      return server
    },
    identify,
    listEndpoints: () => endpoints.map((endpoint) => endpoint.io),
    isUpgrade: (request) => endpoints.some(({ place }) => isSocketUpgrade(request, place)),
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

  /** Disconnects what somebody has open in this process. */
  function endHere (who: SocketOwner): void {
    for (const namespace of namespaces) namespace.local.in(ownerRoom(who)).disconnectSockets(true)
  }

  io.on(COUNT_EVENT, (answer: (count: number) => void) => { answer(main.countHere()) })
  app.addHook('onReady', async () => {
    if (!accepts) return
    await app.workers.hear(END_CHANNEL, (payload) => {
      const who = readEnd(payload)
      if (who !== null) endHere(who)
    })
    for (const endpoint of endpoints) endpoint.attach()
    for (const event of ['request', 'upgrade'] as const) app.server.prependListener(event, examine)
    // A Node that knows no shouldUpgradeCallback hands over whatever offers another protocol.
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
