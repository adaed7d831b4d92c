import { type Static, Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import type { Socket } from 'socket.io'
import type { Caller } from '../../core/access/auth.ts'
import { ApiError } from '../../core/errors.ts'
import type { EventDescriptions, ServerEvents } from '../../core/sockets/sockets.ts'
import {
  ActivityEntrySchema, type ActivityEntryView, type Cleared, ClearedSchema, type Heartbeat, HeartbeatSchema, type Stop,
  StopSchema
} from './schemas.ts'

const RefreshSchema = Type.Object({}, { title: 'ActivityRefresh' })

declare module '../../core/sockets/sockets.ts' {
  interface ServerEvents {
    'activity:update': ActivityEntryView
    'activity:clear': Cleared
    'activity:refresh': Static<typeof RefreshSchema>
  }
}

const activityEvents: EventDescriptions<ServerEvents> = {
  'activity:update': { summary: 'A user plays a game', schema: ActivityEntrySchema },
  'activity:clear': { summary: 'A user stopped playing a game', schema: ClearedSchema },
  'activity:refresh': { summary: 'Fetch the list of players again', schema: RefreshSchema }
}

const scopes = ['roms.user.write'] as const
/** No response for a refused event, because clients do not wait for one. */
const refuse = () => {}

/** Registers the socket events with which browsers report their games. */
export function listenForActivity (app: FastifyInstance): void {
  const bound = new WeakSet<Socket>()
  const endings = new Set<Promise<void>>()

  function drop (socket: Socket): void {
    const dropping = app.activity.drop(app.db, socket.id)
      .catch((err: unknown) => { app.log.warn({ err }, 'the games of a closed socket could not be ended') })
      .finally(() => { endings.delete(dropping) })
    endings.add(dropping)
  }

  async function ignoreUnknown (work: Promise<unknown>): Promise<void> {
    try {
      await work
    } catch (err) {
      if (!(err instanceof ApiError)) throw err
    }
  }

  async function handleHeartbeat (
    heartbeat: Heartbeat, caller: Caller, socket: Socket, starts: boolean
  ): Promise<void> {
    if (!bound.has(socket)) {
      bound.add(socket)
      socket.once('disconnect', () => { drop(socket) })
    }
    await ignoreUnknown(
      app.activity.storeHeartbeat({ db: app.db, caller }, heartbeat, { socket_id: socket.id, starts })
    )
    // The socket closed meanwhile, and its disconnect handler ran before the entry existed.
    if (!socket.connected) drop(socket)
  }

  app.sockets.describe(activityEvents)
  app.sockets.on<Heartbeat>('activity:start', {
    summary: 'A game starts on a device',
    scopes, schema: HeartbeatSchema, refuse, handle: (heartbeat, caller, socket) =>
      handleHeartbeat(heartbeat, caller, socket, true)
  })
  app.sockets.on<Heartbeat>('activity:heartbeat', {
    summary: 'A game continues; send this at least every minute',
    scopes, schema: HeartbeatSchema, refuse, handle: (heartbeat, caller, socket) =>
      handleHeartbeat(heartbeat, caller, socket, false)
  })
  app.sockets.on<Stop>('activity:stop', {
    summary: 'A game ended',
    scopes,
    schema: StopSchema,
    refuse,
    handle: (heartbeat, caller, socket) =>
      ignoreUnknown(app.activity.stopGame({ db: app.db, caller }, heartbeat, socket.id))
  })
  app.addHook('onClose', async () => { await Promise.all(endings) })
}
