import type { FastifyInstance } from 'fastify'
import type { Context } from '../../core/access/context.ts'
import { inTransaction } from '../../core/database/transaction.ts'
import { forbidden } from '../../core/errors.ts'
import { Device } from '../devices/entities.ts'
import { lockUser } from '../users/rows.ts'

/** A context whose caller acts for this device. */
export interface DeviceContext extends Context { device: Device }

/** Creates the function that finds the device of a request. */
export function createDeviceContexts (app: FastifyInstance) {
  /** Returns the id of the device that stands for a password, or for a token that is bound to no device. */
  async function findOwnDevice ({ db, caller }: Context): Promise<number> {
    const identifier = caller.token_id === null ? 'webdav' : `webdav-token-${caller.token_id}`
    const known = await db.em.findOne(Device, { user: caller.id, client_device_identifier: identifier }, { fields: ['id'] })
    if (known !== null) return known.id
    const made = await inTransaction(db, async (tx) => {
      await lockUser(tx, caller.id)
      return await app.devices.findOrCreate(tx, caller.id, {
        client_device_identifier: identifier,
        name: caller.token_id === null ? 'RetroArch (password)' : `RetroArch (token ${caller.token_id})`,
        client: 'retroarch',
        platform: null,
        client_version: null
      })
    })
    return made.id
  }

  /** @throws ApiError BAD_REQUEST if the owner disabled the sync of the device, or has too many devices */
  return async function withDevice (context: Context): Promise<DeviceContext> {
    const { db, caller } = context
    const id = caller.device_id ?? await findOwnDevice(context)
    const device = await app.devices.find(db, caller.id, id)
    app.devices.requireSync(device)
    await app.devices.touch(db, id)
    return { db, caller: { ...caller, device_id: id }, device }
  }
}

/** @throws ApiError FORBIDDEN if the device only sends */
export function requireReceiver ({ device }: DeviceContext): void {
  if (device.sync_mode === 'push_only') throw forbidden(`The device '${device.name ?? device.device_id}' only sends; set its sync mode to 'api' to let it receive`)
}

/** @throws ApiError FORBIDDEN if the device only receives */
export function requireSender ({ device }: DeviceContext): void {
  if (device.sync_mode === 'pull_only') throw forbidden(`The device '${device.name ?? device.device_id}' only receives; set its sync mode to 'api' to let it send`)
}
