import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { Server, Socket } from 'socket.io'
import { createReader } from '../../core/web/validation.ts'
import { isRelayable } from './relay.ts'
import { ROOMS_CHANNEL } from './rows.ts'
import { type RoomData, RoomDataSchema, type RoomRequest, readRoomRequest } from './schemas.ts'
import { Refusal, WrongPassword } from './service.ts'

const PATH = '/netplay/socket.io'
/** Events that are relayed between players unchanged. */
const RELAYED = ['data-message', 'snapshot', 'input'] as const
/** Wrong passwords after which the socket is closed; a guesser must reconnect. */
const WRONG_PASSWORDS_MAX = 10

/** Returns the socket room of a room id. The prefix keeps ids of clients apart from other socket rooms. */
const roomNameOf = (id: string) => `netplay:${id}`

type Acknowledge = (...answer: unknown[]) => void
type RoomAction = (roomRequest: RoomRequest) => Promise<unknown[]>

const read = createReader(RoomDataSchema)

/** Parses the payload that opens or joins a room. @throws Refusal if the payload is invalid */
function readRoomData (payload: unknown): RoomRequest {
  const given = read(payload)
  if ('problem' in given) throw new Refusal(given.problem)
  const roomRequest = readRoomRequest(given.value as RoomData)
  if (roomRequest === null) throw new Refusal('extra.sessionid and extra.userid are missing; send both')
  return roomRequest
}

/** Returns the last argument of an event if it is a callback for the response. */
function acknowledgementOf (args: readonly unknown[]): Acknowledge {
  const last = args.at(-1)
  return typeof last === 'function' ? last as Acknowledge : () => {}
}

interface Signal {
  target: string
  candidate?: unknown
  offer?: unknown
  answer?: unknown
  requestRenegotiate?: unknown
}

const isSignal = (payload: unknown): payload is Signal =>
  typeof payload === 'object' && payload !== null && 'target' in payload && typeof payload.target === 'string' &&
    isRelayable(payload)

function toSignal (sender: string, { requestRenegotiate: renegotiates, candidate, offer, answer }: Signal) {
  if (renegotiates === true) return { sender, requestRenegotiate: true }
  return { sender, candidate: candidate ?? null, offer: offer ?? null, answer: answer ?? null }
}

/** Creates queues that run their work in order, and tracks all unfinished work. */
function createEventQueues (app: FastifyInstance) {
  const open = new Set<Promise<void>>()
  return {
    /** Starts a queue with its own order. */
    start () {
      let last = Promise.resolve()
      return (work: () => Promise<void>): void => {
        const job = last.then(work).catch((err: unknown) => { app.log.error({ err }, 'a netplay event failed') })
        last = job
        open.add(job)
        job.finally(() => { open.delete(job) }).catch(() => {})
      }
    },
    flush: async (): Promise<void> => { await Promise.all(open) }
  }
}

/** Runs an action and acknowledges its result, or the reason of a failure, also of an unexpected one. */
async function answer (
  log: FastifyBaseLogger, act: RoomAction, payload: unknown, acknowledge: Acknowledge
): Promise<void> {
  try {
    acknowledge(...await act(readRoomData(payload)))
  } catch (err) {
    if (!(err instanceof Refusal)) log.error({ err }, 'a netplay event failed')
    acknowledge(err instanceof Refusal ? err.message : 'The server failed to handle this event; see its log')
    if (err instanceof WrongPassword) throw err
  }
}

/** Creates the rooms of the sockets in this process. A socket is in one room at most. */
function createSocketRooms (app: FastifyInstance) {
  const roomsBySocket = new Map<Socket, string>()

  async function leave (socket: Socket): Promise<void> {
    const roomId = roomsBySocket.get(socket)
    if (roomId === undefined) return
    await socket.leave(roomNameOf(roomId))
    await app.netplay.leave(roomId, socket.id)
    // Only now, because a socket that cannot leave must be found again.
    roomsBySocket.delete(socket)
    await app.netplay.announce(roomId)
  }

  return {
    find: (socket: Socket): string | undefined => roomsBySocket.get(socket),
    hasPlayers: (): boolean => roomsBySocket.size > 0,

    async join (socket: Socket, roomId: string): Promise<void> {
      roomsBySocket.set(socket, roomId)
      await socket.join(roomNameOf(roomId))
      await app.netplay.announce(roomId)
    },

    leave,

    /** Removes closed sockets whose leaving failed, as without a database. Their players would stay in the room. */
    async dropClosed (): Promise<void> {
      for (const socket of roomsBySocket.keys()) if (!socket.connected) await leave(socket)
    }
  }
}

/** Opens the socket endpoint for netplay. */
export function openNetplayEndpoint (app: FastifyInstance) {
  const rooms = createSocketRooms(app)
  const queues = createEventQueues(app)
  const io: Server = app.sockets.openEndpoint(PATH, serve)

  async function openRoom (socket: Socket, roomRequest: RoomRequest): Promise<unknown[]> {
    await app.netplay.checkOpening(await app.sockets.identify(socket), roomRequest)
    await rooms.leave(socket)
    await app.netplay.open(roomRequest, socket.id)
    await rooms.join(socket, roomRequest.id)
    return []
  }

  async function joinAsPlayer (socket: Socket, roomRequest: RoomRequest): Promise<unknown[]> {
    const caller = await app.sockets.identify(socket)
    await rooms.leave(socket)
    const players = await app.netplay.join(caller, roomRequest, socket.id, app.sockets.networkOf(socket))
    await rooms.join(socket, roomRequest.id)
    return [null, players]
  }

  function relay (socket: Socket, event: string, payload: unknown): void {
    const roomId = rooms.find(socket)
    if (roomId !== undefined && isRelayable(payload)) socket.to(roomNameOf(roomId)).emit(event, payload)
  }

  async function signal (socket: Socket, payload: unknown): Promise<void> {
    const roomId = rooms.find(socket)
    if (roomId === undefined || !isSignal(payload)) return
    const { target } = payload
    // Check the target before using it as a socket room: only a socket in the same netplay room is allowed.
    if (await app.netplay.isInRoom(roomId, target)) io.to(target).emit('webrtc-signal', toSignal(socket.id, payload))
  }

  function serve (socket: Socket): void {
    const enqueue = queues.start()
    let wrongPasswords = 0

    function countWrong (err: unknown): void {
      if (!(err instanceof WrongPassword)) throw err
      if (++wrongPasswords >= WRONG_PASSWORDS_MAX) socket.disconnect(true)
    }
    function listen (event: string, act: (socket: Socket, roomRequest: RoomRequest) => Promise<unknown[]>): void {
      socket.on(event, (...args: unknown[]) => {
        const run: RoomAction = (roomRequest) => act(socket, roomRequest)
        enqueue(() => answer(app.log, run, args[0], acknowledgementOf(args)).catch(countWrong))
      })
    }
    listen('open-room', openRoom)
    listen('join-room', joinAsPlayer)
    socket.on('leave-room', () => { enqueue(() => rooms.leave(socket)) })
    socket.on('webrtc-signal', (payload: unknown) => { enqueue(() => signal(socket, payload)) })
    for (const event of RELAYED) {
      socket.on(event, (payload: unknown) => { enqueue(async () => { relay(socket, event, payload) }) })
    }
    socket.on('disconnect', () => { enqueue(() => rooms.leave(socket)) })
  }

  const enqueue = queues.start()
  /**
   * Publishes the players of a room to the sockets of this worker. The queue prevents that older lists follow newer
   * ones.
   */
  function publishPlayers (roomId: string): void {
    const room = roomNameOf(roomId)
    enqueue(async () => {
      if (io.of('/').adapter.rooms.has(room)) io.local.to(room).emit('users-updated', await app.netplay.listPlayers(roomId))
    })
  }

  return {
    /** Starts to publish the players of rooms to their sockets. */
    listen: () => app.workers.listen(ROOMS_CHANNEL, publishPlayers),
    hasPlayers: rooms.hasPlayers,
    dropClosed: rooms.dropClosed,
    flush: queues.flush
  }
}
