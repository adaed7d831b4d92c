import type { FastifyInstance, FastifyRequest } from 'fastify'
import { requireGrant } from '../../core/access/auth.ts'
import type { Context } from '../../core/access/context.ts'
import type { Db } from '../../core/database/db.ts'
import { deleteRow } from '../../core/database/delete-row.ts'
import { type EventDescriptions, type Publish, ownerRoom } from '../../core/sockets/sockets.ts'
import { inTransaction } from '../../core/database/transaction.ts'
import { lockUser } from '../users/rows.ts'
import { appDevices } from './app-devices.ts'
import { findBrowserDevice } from './browser.ts'
import { findDevice, findUuid, lock, lookUp, requireSync } from './find-device.ts'
import { Device } from './entities.ts'
import { DEVICE_NAMESPACE, type DeviceEvents } from './events.ts'
import { readFields, registerDevice } from './registration.ts'
import { checkServerSync } from './server-sync-access.ts'
import { listOnline, pinHostKey } from './rows.ts'
import type { RegisterDevice, UpdateDevice } from './schemas.ts'

type Listener = (db: Db, id: number) => Promise<void>

export function createDevices (app: FastifyInstance, publish: Publish<DeviceEvents>) {
  const beforeDelete: Listener[] = []
  const afterRegister: ((device: Device) => Promise<void>)[] = []

  return {
    ...appDevices,
    lookUp,
    find: findDevice,
    findUuid,
    requireSync,
    lock,
    pinHostKey,

    /** Returns the device of the browser that sent a request; null if the user cannot have more devices. */
    findBrowser: async (db: Db, userId: number, request: FastifyRequest): Promise<Device | null> =>
      await findBrowserDevice(db, { userId, userAgent: request.headers['user-agent'] ?? '', address: request.ip }),

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
      const device = await findDevice(db, caller.id, reference)
      const trust = checkServerSync(caller, input, device)
      db.em.assign(device, { ...readFields(app.secrets, input, device.sync_config ?? null), ...trust })
      await db.em.flush()
      return device
    },

    /** Deletes a device with its dependent rows; its tokens stay, bound to no device. */
    async delete ({ db, caller }: Context, reference: string | number, address: string): Promise<void> {
      requireGrant(caller, 'devices', 'delete', true)
      const { id, device_id: uuid, name } = await findDevice(db, caller.id, reference)
      for (const listener of beforeDelete) await listener(db, id)
      await inTransaction(db, async (tx) => {
        await lockUser(tx, caller.id)
        await deleteRow(tx, Device, id, `Device '${name ?? uuid}'`)
      })
      await app.sockets.end({ kind: 'device', id })
      await app.audit.record({
        event: 'device.deleted', user: caller, address, details: { device_id: uuid, device_name: name ?? null }
      })
    },

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
