import type { FastifyInstance } from 'fastify'
import type { Caller } from '../../core/access/auth.ts'
import type { Db } from '../../core/database/db.ts'
import { conflict, forbidden } from '../../core/errors.ts'
import { Device } from '../devices/entities.ts'

/** A device, and its owner as a caller who uses the device's token. */
export interface OwnedDevice { device: Device, caller: Caller }

/** Loads a device and its owner. @throws ApiError CONFLICT or FORBIDDEN if the device may not be synced */
export async function loadOwned (app: FastifyInstance, db: Db, deviceId: number): Promise<OwnedDevice> {
  const device = await db.em.findOne(Device, { id: deviceId }, { populate: ['user'] })
  if (device === null) throw conflict('The device was deleted')
  app.devices.requireSync(device)
  if (!device.user.enabled) throw forbidden("The account of the device's owner is disabled")
  const caller = await app.permissions.toCaller(device.user, { credential: 'token', device_id: device.id })
  if (caller.scopes.has('assets.write') && caller.scopes.has('devices.write')) return { device, caller }
  throw forbidden('The owner of the device may not write saves')
}
