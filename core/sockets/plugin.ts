import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import type { Namespace, Server, Socket } from 'socket.io'
import type { Caller } from '../access/auth.ts'
import { CALLERS_CHANNEL } from '../access/caller-cache.ts'
import type { Config } from '../config/config.ts'
import { type BoundSockets, createBoundSockets } from './bound-sockets.ts'
import { END_CHANNEL, type SocketOwner, announceSocketEnd, readEnd } from './end-sockets.ts'
import { createEndpoints } from './endpoints.ts'
import { createEvents } from './events.ts'
import { createGuestCount } from './guests.ts'
import { joinedEvents, joinedOf, wantsJoined } from './joined.ts'
import { guardNamespace } from './namespace.ts'
import { createProxyProblems } from './proxy-problems.ts'
import { SOCKET_PATH } from './request.ts'
import { ADMIN_ROOM, type Identify, type Sockets, ownerRoom, ownerRooms, sessionRooms, userRoom } from './sockets.ts'

const COUNT_EVENT = 'svc:count'

export interface SocketsOptions {
  config: Config
  /** True if clients connect to this process; the scan worker only publishes. */
  accepts: boolean
  /** The first part of every session id, by which any worker finds the session's owner. */
  owner: string
}

/** Creates the functions that reach sockets of the main endpoint in every process. */
function createMainPublisher (io: Server) {
  return {
    publish (room, event, payload) {
      // An empty list of rooms would publish to everybody.
      if (Array.isArray(room) && room.length === 0) return
      const target = room === null ? io : io.to(typeof room === 'string' ? room : [...room])
      target.emit(event, payload)
    },
    setAdmin (userId, isAdmin) {
      const sockets = io.in(userRoom(userId))
      if (isAdmin) sockets.socketsJoin(ADMIN_ROOM)
      else sockets.socketsLeave(ADMIN_ROOM)
    }
  } satisfies Pick<Sockets, 'publish' | 'setAdmin'>
}

/** Creates the function that binds each new socket with a login session to the session. */
function createSessionBinder (bound: BoundSockets, identify: Identify) {
  async function bind (socket: Socket, roomsOf: (caller: Caller) => string[]): Promise<void> {
    const caller = await identify(socket)
    if (caller !== null) await bound.bind(socket, roomsOf(caller), identify)
  }
  /** @param joined called when the socket is in its rooms; a guest is in none */
  return (socket: Socket, roomsOf: (caller: Caller) => string[], joined = () => {}): void => {
    bind(socket, roomsOf).then(joined, (err: unknown) => { bound.disconnectFailed(socket, err) })
  }
}

/** Disconnects the sockets of an owner in this process when any process announces the end. */
async function followEnds (app: FastifyInstance, namespaces: readonly Namespace[]): Promise<void> {
  const endHere = (owner: SocketOwner) => {
    for (const namespace of namespaces) namespace.local.in(ownerRoom(owner)).disconnectSockets(true)
  }
  await app.workers.listen(END_CHANNEL, (payload) => {
    const owner = readEnd(payload)
    if (owner !== null) endHere(owner)
  })
}

/** Accepts sockets of the server's requests at all endpoints. */
function attachEndpoints ({ server }: FastifyInstance, endpoints: ReturnType<typeof createEndpoints>): void {
  for (const endpoint of endpoints.list()) endpoint.attach()
  for (const event of ['request', 'upgrade'] as const) server.prependListener(event, endpoints.examine)
  // A Node version without shouldUpgradeCallback passes every upgrade here, also to other protocols.
  server.on('upgrade', (request: IncomingMessage, socket: Duplex) => {
    if (endpoints.find(request) === undefined) socket.destroy()
  })
}

export default fp<SocketsOptions>(async (app, { config, accepts, owner }) => {
  const identify: Identify = (socket) => app.auth.identifyHandshake(socket.request)
  const guests = createGuestCount()
  const endpoints = createEndpoints(app, { config, owner, guests })
  const main = endpoints.add(SOCKET_PATH, 'socket.io')
  const { io } = main
  app.decorate('proxyProblems', createProxyProblems(io))
  const bound = createBoundSockets(guests, app.log)
  const bindSession = createSessionBinder(bound, identify)
  const { listen, declarations } = createEvents(identify, app.log)
  const namespaces: Namespace[] = [io.of('/')]
  declarations.describe(joinedEvents)

  io.on('connection', (socket) => {
    listen(socket)
    bindSession(socket, sessionRooms, () => {
      if (wantsJoined(socket)) socket.emit('socket:joined', joinedOf(main.quietMs()))
    })
  })
  io.on(COUNT_EVENT, (answer: (count: number) => void) => { answer(main.countHere()) })

  app.decorate('sockets', {
    main: io,
    identify,
    ...createMainPublisher(io),
    ...declarations,
    async countConnections () {
      const others = await io.serverSideEmitWithAck(COUNT_EVENT) as number[]
      return others.reduce((sum, count) => sum + count, main.countHere())
    },
    // Each process hears of an end after it heard that callers changed, so a socket that connects later finds no
    // cached caller.
    end: (owner) => announceSocketEnd(app.db, owner),
    openNamespace (name, options) {
      const namespace = io.of(name)
      namespaces.push(namespace)
      guardNamespace(namespace, options, bound)
      return (room, event, payload) => { namespace.to(room).emit(event, payload) }
    },
    openEndpoint (path, connected) {
      const { io: server } = endpoints.add(path, path)
      namespaces.push(server.of('/'))
      server.on('connection', (socket) => {
        connected(socket)
        bindSession(socket, ownerRooms)
      })
      return server
    },
    networkOf: endpoints.networkOf,
    examine: endpoints.examine,
    isUpgrade: endpoints.isUpgrade,
    listEndpoints: () => endpoints.list().map((endpoint) => endpoint.io)
  } satisfies Sockets)

  app.addHook('onReady', async () => {
    if (!accepts) return
    await followEnds(app, namespaces)
    await app.workers.listen(CALLERS_CHANNEL, bound.check)
    attachEndpoints(app, endpoints)
  })
  app.addHook('preClose', async () => {
    bound.stop()
    await Promise.all(endpoints.list().map((endpoint) => endpoint.closeConnections()))
    await bound.finish()
  })
  app.addHook('onClose', () => endpoints.close())
}, { name: 'sockets', fastify: '5.x', dependencies: ['database', 'workers', 'auth-core'] })
