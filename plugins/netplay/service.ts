import type { FastifyInstance } from 'fastify'
import type { Caller } from '../../core/access/auth.ts'
import type { Context } from '../../core/access/context.ts'
import { isEqualSecret } from '../../core/access/secrets.ts'
import { ApiError } from '../../core/errors.ts'
import { createThrottle } from '../auth/throttle-rows.ts'
import { romNotFound } from '../roms/rom-not-found.ts'
import { hasVisibleRom } from '../roms/visible-rows.ts'
import { passwordKeys, passwordLimits } from './password-limits.ts'
import {
  type RoomEntry, announceRooms, deleteLost, deletePlayer, joinRoom, insertRoom, isInRoom, selectEntrance,
  selectOpenRooms,
  selectPlayers, selectWorkers
} from './rows.ts'
import { type Players, type RoomList, type RoomRequest, readRomId } from './schemas.ts'
import { toPlayersView, toRoomListView } from './views.ts'

/** A refusal to open or join a room, with a message for people. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
}

/** A wrong password for a room. */
export class WrongPassword extends Refusal {}

const MISSING = 'The room does not exist any more; choose another room'

const REFUSED: Record<Extract<RoomEntry, string>, string> = {
  gone: MISSING,
  taken: 'A player with this id is in the room already; join with another id',
  full: 'The room is full; wait until somebody leaves it'
}

async function maySee (context: Context<Pick<Caller, 'id' | 'access'>>, gameId: string): Promise<boolean> {
  const romId = readRomId(gameId)
  return romId !== null && await hasVisibleRom(context, String(romId))
}

async function mayPlay ({ db, caller }: Context<Caller | null>, gameId: string): Promise<boolean> {
  return caller?.scopes.has('roms.read') === true && await maySee({ db, caller }, gameId)
}

/** Removes the players of dead workers from rooms, and announces the changed rooms. */
async function dropLost (app: FastifyInstance): Promise<void> {
  // This order matters: a worker that starts in between cannot look dead.
  const workers = await selectWorkers(app.db)
  const alive = new Set(await app.workers.listAlive())
  const changed = await deleteLost(app.db, workers.filter((one) => !alive.has(one)))
  if (changed.length > 0) await announceRooms(app.db, changed)
}

/** Rooms are rows that every web worker sees. Players exist as long as the worker that holds their socket. */
export function createNetplay (app: FastifyInstance) {
  const { id: worker } = app.workers
  const throttle = createThrottle(app.db)
  const markOf = (password: string) => password === '' ? null : app.secrets.sign('netplay-room', password)

  /** @throws WrongPassword, and Refusal while the network must wait after wrong ones */
  async function checkPassword (mark: string, roomRequest: RoomRequest, network: string): Promise<void> {
    const keys = passwordKeys(network, roomRequest.id)
    await throttle.countAttempt(passwordLimits(keys)).catch((err: unknown) => {
      throw err instanceof ApiError && err.code === 'TOO_MANY_REQUESTS' ? new Refusal(err.message) : err
    })
    if (!isEqualSecret(mark, markOf(roomRequest.password) ?? '')) throw new WrongPassword('Incorrect password')
    await throttle.subtract(keys.room, keys.all)
  }

  return {
    dropLost: () => dropLost(app),

    /**
     * Lists the rooms of a game that have a free place.
     *
     * @throws ApiError NOT_FOUND for a ROM that is not visible to the caller
     */
    async list (context: Context, gameId: string): Promise<RoomList> {
      if (!await maySee(context, gameId)) throw romNotFound(gameId)
      return toRoomListView(await selectOpenRooms(app.db, gameId, await app.workers.listAlive()))
    },

    /** @throws Refusal unless the caller may open a room for the game */
    async checkOpening (caller: Caller | null, { game_id: gameId }: RoomRequest): Promise<void> {
      if (!await mayPlay({ db: app.db, caller }, gameId)) throw new Refusal('Not authorized to open a room for this game')
    },

    /** Opens a room. @throws Refusal if the id is taken */
    async open (roomRequest: RoomRequest, socketId: string): Promise<void> {
      await dropLost(app)
      if (await insertRoom(app.db, roomRequest, markOf(roomRequest.password), { socket_id: socketId, worker })) return
      throw new Refusal('A room with this id already exists; open the room with another id')
    },

    /**
     * Joins a room.
     *
     * @throws Refusal if the room is gone or full, has this player or another password, the caller may not play its
     *   game, or the network guessed too often
     */
    async join (caller: Caller | null, roomRequest: RoomRequest, socketId: string, network: string): Promise<Players> {
      await dropLost(app)
      const room = await selectEntrance(app.db, roomRequest.id)
      if (room === null) throw new Refusal(MISSING)
      const { password_mark: mark, game_id: gameId } = room
      if (mark !== null) await checkPassword(mark, roomRequest, network)
      if (mark === null && !await mayPlay({ db: app.db, caller }, gameId)) throw new Refusal('Not authorized to join a room of this game')
      const entry = await joinRoom(app.db, roomRequest, { socket_id: socketId, worker })
      if (typeof entry === 'string') throw new Refusal(REFUSED[entry])
      return toPlayersView(entry)
    },

    leave: (roomId: string, socketId: string): Promise<void> => deletePlayer(app.db, roomId, socketId),

    /** Makes all workers publish the players of a room. */
    announce: (roomId: string): Promise<void> => announceRooms(app.db, [roomId]),

    listPlayers: async (roomId: string): Promise<Players> => toPlayersView(await selectPlayers(app.db, roomId)),

    isInRoom: (roomId: string, socketId: string): Promise<boolean> => isInRoom(app.db, roomId, socketId)
  }
}
