import type { FastifyInstance, FastifyRequest } from 'fastify'
import { requireGrant } from '../../core/access/auth.ts'
import type { Context } from '../../core/access/context.ts'
import type { Db } from '../../core/database/db.ts'
import { badRequest, notFound } from '../../core/errors.ts'
import { readReference } from '../../core/web/reference.ts'
import { type EventDescriptions, type Publish, ownerRoom } from '../../core/sockets/sockets.ts'
import { inTransaction } from '../../core/database/transaction.ts'
import { lockUser } from '../users/rows.ts'
import { appDevices } from './app-devices.ts'
import { findBrowserDevice } from './browser.ts'
import { Device } from './entities.ts'
import { DEVICE_NAMESPACE, type DeviceEvents } from './events.ts'
import { readFields, registerDevice } from './registration.ts'
import { checkServerSync } from './server-sync-access.ts'
import { lockDevice, listOnline, pinHostKey } from './rows.ts'
import type { RegisterDevice, UpdateDevice } from './schemas.ts'

type Listener = (db: Db, id: number) => Promise<void>

export function createDevices (app: FastifyInstance, publish: Publish<DeviceEvents>) {
  /** Returns a user's device by either of its ids; null if it does not exist or belongs to another user. */
  async function lookUp (db: Db, userId: number, reference: number | string): Promise<Device | null> {
    const id = readReference(reference, 'device_id')
    return id === null ? null : await db.em.findOne(Device, { user: userId, ...id })
  }

  /** @throws ApiError NOT_FOUND if the device does not exist or belongs to another user */
  async function find (db: Db, userId: number, reference: number | string): Promise<Device> {
    const device = await lookUp(db, userId, reference)
    if (device === null) throw notFound(`Device with ID '${reference}' not found`)
    return device
  }

  /** @throws ApiError BAD_REQUEST if the owner disabled the sync of a device; apps compare the message */
  function requireSync ({ sync_enabled: isEnabled }: Device): void {
    if (!isEnabled) throw badRequest('Sync is disabled for this device')
  }

  const beforeDelete: Listener[] = []
  const afterRegister: ((device: Device) => Promise<void>)[] = []

  return {
    ...appDevices,
    lookUp,
    find,
    requireSync,

    /**
     * Locks a device against deletion until the transaction ends. Call it before changing any dependent row, because a
     * deletion locks in the same order.
     *
     * @throws ApiError NOT_FOUND if the device was deleted meanwhile
     */
    async lock (tx: Db, { id, device_id: uuid }: Pick<Device, 'id' | 'device_id'>): Promise<void> {
      if (!await lockDevice(tx, id)) throw notFound(`Device with ID '${uuid}' not found`)
    },

    /** Returns the device of the browser that sent a request; null if the user cannot have more devices. */
    findBrowser: async (db: Db, userId: number, request: FastifyRequest): Promise<Device | null> =>
      await findBrowserDevice(db, { userId, userAgent: request.headers['user-agent'] ?? '', address: request.ip }),

    /** Returns the UUID of a caller's device; null for none. */
    async findUuid (db: Db, id: number | null): Promise<string | null> {
      if (id === null) return null
      const device = await db.em.findOne(Device, { id }, { fields: ['device_id'] })
      return device?.device_id ?? null
    },

    list: ({ db, caller }: Context): Promise<Device[]> =>
      db.em.find(Device, { user: caller.id }, { orderBy: { id: 'asc' } }),

    /** Returns the UUIDs of the caller's devices that have a socket open in any process. */
    listOnline: ({ db, caller }: Context): Promise<string[]> => listOnline(db, caller.id),

    async register ({ db, caller }: Context, input: RegisterDevice) {
      const registered = await registerDevice(db, app.secrets, caller, input)
      for (const listener of afterRegister) await listener(registered.device)
      return registered
    },

    /** Changes only the given fields; null clears a field. */
    async update ({ db, caller }: Context, reference: string | number, input: UpdateDevice): Promise<Device> {
      const device = await find(db, caller.id, reference)
      const trust = checkServerSync(caller, input, device)
      db.em.assign(device, { ...readFields(app.secrets, input, device.sync_config ?? null), ...trust })
      await db.em.flush()
      return device
    },

    /** Deletes a device with its dependent rows; its tokens stay, bound to no device. */
    async delete ({ db, caller }: Context, reference: string | number, address: string): Promise<void> {
      requireGrant(caller, 'devices', 'delete', true)
      const { id, device_id: uuid, name } = await find(db, caller.id, reference)
      for (const listener of beforeDelete) await listener(db, id)
      await inTransaction(db, async (tx) => {
        await lockUser(tx, caller.id)
        await tx.em.nativeDelete(Device, { id })
      })
      app.sockets.end({ kind: 'device', id })
      await app.audit.record({
        event: 'device.deleted', user: caller, address, details: { device_id: uuid, device_name: name ?? null }
      })
    },

    pinHostKey,

    /** Calls a listener after a device registered, whether it is new or known. */
    onRegister (listener: (device: Device) => Promise<void>): void {
      afterRegister.push(listener)
    },

    /** Calls a listener before a device is deleted by its owner. */
    onDelete (listener: Listener): void {
      beforeDelete.push(listener)
    },

    /** Adds the events of a feature to the API document. */
    describe (events: EventDescriptions<DeviceEvents>): void {
      app.sockets.describe<DeviceEvents>(events, DEVICE_NAMESPACE)
    },

    /** Sends an event to the sockets of a device. */
    publish<Name extends keyof DeviceEvents> (id: number, event: Name, payload: DeviceEvents[Name]): void {
      publish(ownerRoom({ kind: 'device', id }), event, payload)
    }
  }
}
