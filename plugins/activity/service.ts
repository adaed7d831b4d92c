import type { FastifyInstance } from 'fastify'
import type { Context } from '../../core/access/context.ts'
import type { Db } from '../../core/database/db.ts'
import { SIGNED_IN_ROOM, userRoom } from '../../core/sockets/sockets.ts'
import { deviceIdOf } from '../devices/schemas.ts'
import { createRefresh } from './refresh.ts'
import { type EntrySelection, deleteEntries, findPlayed, selectEntries, upsertEntry } from './rows.ts'
import type { ActivityEntryView, Cleared, Heartbeat, Stop } from './schemas.ts'
import { toActivityView } from './views.ts'
import { romNotFound } from '../roms/rom-not-found.ts'

/** The socket that sent an event. */
export interface Origin { socket_id: string | null, starts: boolean }

/** Publishes events of games. `refresh` asks all clients to load the list again. */
interface Announcer { app: FastifyInstance, refresh: () => void }

/**
 * Returns the socket rooms of the users who may see each ROM. A ROM without rooms means that its audience is unknown.
 */
async function findRooms (app: FastifyInstance, romIds: readonly number[]): Promise<Map<number, string | string[]>> {
  try {
    const audiences = await app.permissions.listAudiences(app.db, romIds)
    return new Map(romIds.map((id) => [id, audiences.get(id)?.map(userRoom) ?? SIGNED_IN_ROOM]))
  } catch (err) {
    app.log.warn({ err, roms: romIds }, 'the users who may see a ROM could not be determined')
    return new Map()
  }
}

/** Publishes an event to the users who may see the ROM. If they are unknown, all clients are asked to refresh. */
function announce<Name extends 'activity:update' | 'activity:clear'> (
  announcer: Announcer, rooms: Awaited<ReturnType<typeof findRooms>>, event: Name,
  payload: Name extends 'activity:update' ? ActivityEntryView : Cleared
): void {
  const room = rooms.get(payload.rom_id)
  if (room === undefined) announcer.refresh()
  else announcer.app.sockets.publish(room, event, payload as never)
}

async function clear (announcer: Announcer, db: Db, selection: EntrySelection): Promise<void> {
  const cleared = await deleteEntries(db, selection)
  if (cleared.length === 0) return
  const rooms = await findRooms(announcer.app, [...new Set(cleared.map((entry) => entry.rom_id))])
  for (const entry of cleared) announce(announcer, rooms, 'activity:clear', entry)
}

export function createActivity (app: FastifyInstance) {
  const announcer: Announcer = { app, refresh: createRefresh(app) }

  app.devices.onDelete((db, id) => clear(announcer, db, { device_id: id }))

  return {
    /** Lists the current games that are visible to the caller. */
    async list (context: Context, romId?: number): Promise<ActivityEntryView[]> {
      const rows = await selectEntries(context, { rom_id: romId })
      return rows.map((row) => toActivityView(row, app.resources.marked))
    },

    /**
     * Stores that the caller plays a ROM on a device, until the entry expires.
     *
     * @throws ApiError NOT_FOUND for a device of another user or a ROM that is not visible to the caller
     */
    async storeHeartbeat (
      context: Context, { rom_id: romId, device_id: reference }: Heartbeat, origin: Origin
    ): Promise<ActivityEntryView> {
      const { db, caller } = context
      const device = await app.devices.find(db, caller.id, reference)
      const { id } = device
      await app.devices.touch(db, id)
      const played = await findPlayed(db, caller.id, id)
      // Rooms are loaded first. Any delay between a change and its event could let the event of a later change overtake
      // it.
      const rooms = await findRooms(app, played === null || played === romId ? [romId] : [played, romId])
      const row = await upsertEntry(context, { rom_id: romId, device_id: id, ...origin })
      if (row === undefined) throw romNotFound(romId)
      const { former_rom_id: former, ...stored } = row
      const entry = toActivityView(stored, app.resources.marked)
      // Some users who saw the last game may not see this one.
      if (former !== null && former !== romId) {
        announce(announcer, rooms, 'activity:clear', { user_id: caller.id, device_id: deviceIdOf(device), rom_id: former })
      }
      announce(announcer, rooms, 'activity:update', entry)
      return entry
    },

    /** Ends the caller's entry on a device; ignores a device that is not the caller's. */
    async stop ({ db, caller }: Context, reference: Heartbeat['device_id']): Promise<void> {
      const device = await app.devices.lookUp(db, caller.id, reference)
      if (device === null) return
      await clear(announcer, db, { user_id: caller.id, device_id: device.id })
    },

    /** Ends a game, unless another game was started on the device meanwhile. */
    async stopGame (
      { db, caller }: Context, { rom_id: romId, device_id: reference }: Stop, socketId: string
    ): Promise<void> {
      const by = reference === undefined
        ? { socket_id: socketId }
        : { device_id: (await app.devices.find(db, caller.id, reference)).id }
      await clear(announcer, db, { user_id: caller.id, rom_id: romId, ...by })
    },

    /** Ends the entries of a socket. */
    drop: (db: Db, socketId: string) => clear(announcer, db, { socket_id: socketId })
  }
}
