import type { EntityManager } from '@mikro-orm/postgresql'
import type { FastifyInstance } from 'fastify'
import { sql } from 'kysely'
import type { Caller } from '../../core/auth.ts'
import { notFound } from '../../core/errors.ts'
import { SIGNED_IN_ROOM, userRoom } from '../../core/sockets.ts'
import { createRefresh } from './refresh.ts'
import { type Cleared, deleteEntries, selectEntries, upsertEntry } from './rows.ts'
import { type ActivityEntryView, type Heartbeat, type Stop, toActivityView } from './schemas.ts'

declare module '../../core/sockets.ts' {
  interface ServerEvents {
    'activity:update': ActivityEntryView
    'activity:clear': Cleared
  }
}

/** The socket an event came by. */
export interface Origin { socket_id: string | null, starts: boolean }

const EVERYTHING = sql<boolean>`true`

export function createActivity (app: FastifyInstance) {
  const refresh = createRefresh(app)

  /** Tells those who may see the ROM. */
  async function announce<Name extends 'activity:update' | 'activity:clear'> (
    event: Name, payload: Name extends 'activity:update' ? ActivityEntryView : Cleared
  ): Promise<void> {
    try {
      const audience = (await app.permissions.listAudiences([payload.rom_id])).get(payload.rom_id)
      app.sockets.publish(audience?.map(userRoom) ?? SIGNED_IN_ROOM, event, payload as never)
    } catch (err) {
      app.log.warn({ err, rom: payload.rom_id }, 'who may see a ROM could not be worked out')
      refresh()
    }
  }

  async function clear (em: EntityManager, condition: Parameters<typeof deleteEntries>[1]): Promise<void> {
    for (const cleared of await deleteEntries(em, condition)) await announce('activity:clear', cleared)
  }

  async function viewOf (em: EntityManager, userId: number, deviceId: number): Promise<ActivityEntryView | null> {
    const [row] = await selectEntries(em, null, sql<boolean>`a.user_id = ${userId} and a.device_id = ${deviceId}`)
    return row === undefined ? null : toActivityView(row)
  }

  return {
    /** What is played now, as far as the viewer may see it. */
    async list (em: EntityManager, caller: Caller, romId?: number): Promise<ActivityEntryView[]> {
      const rows = await selectEntries(em, caller, romId === undefined ? EVERYTHING : sql<boolean>`a.rom_id = ${romId}`)
      return rows.map(toActivityView)
    },

    /**
     * Says that the caller plays a ROM on a device, for the next while.
     *
     * @throws ApiError NOT_FOUND for a device of somebody else and for a ROM that the caller does not see
     */
    async beat (
      em: EntityManager, caller: Caller, { rom_id: romId, device_id: reference }: Heartbeat, origin: Origin
    ): Promise<ActivityEntryView> {
      const { id, device_id: uuid } = await app.devices.find(em, caller.id, reference)
      const beaten = await upsertEntry(em, caller, { rom_id: romId, device_id: id, ...origin })
      const entry = beaten === undefined ? null : await viewOf(em, caller.id, id)
      if (beaten === undefined || entry === null) throw notFound(`ROM with ID '${romId}' not found`)
      await app.devices.touch(em, id)
      const { former_rom_id: former } = beaten
      // Not everybody who saw the last game may see this one.
      if (former !== null && former !== romId) {
        await announce('activity:clear', { user_id: caller.id, device_id: uuid, rom_id: former })
      }
      await announce('activity:update', entry)
      return entry
    },

    /** Ends what the caller plays on a device, whatever that is. */
    async stop (em: EntityManager, caller: Caller, reference: Heartbeat['device_id']): Promise<void> {
      const device = await app.devices.find(em, caller.id, reference)
      await clear(em, sql<boolean>`a.user_id = ${caller.id} and a.device_id = ${device.id}`)
    },

    /** Ends a game, unless another one has been started on the device meanwhile. */
    async stopGame (
      em: EntityManager, caller: Caller, { rom_id: romId, device_id: reference }: Stop, socketId: string
    ): Promise<void> {
      const where = reference === undefined
        ? sql<boolean>`a.socket_id = ${socketId}`
        : sql<boolean>`a.device_id = ${(await app.devices.find(em, caller.id, reference)).id}`
      await clear(em, sql<boolean>`a.user_id = ${caller.id} and a.rom_id = ${romId} and ${where}`)
    },

    /** Ends what a socket started. */
    drop: (em: EntityManager, socketId: string) => clear(em, sql<boolean>`a.socket_id = ${socketId}`)
  }
}
