import type { FastifyInstance } from 'fastify'
import type { EntityManager } from '@mikro-orm/postgresql'
import type { Caller } from '../../core/access/auth.ts'
import { Device } from '../devices/entities.ts'

/** A device, and its owner as if the device itself had called. */
export interface Owned { device: Device, caller: Caller }

/** @throws Error, in words for the owner, when the device may not be synced */
export async function loadOwned (app: FastifyInstance, em: EntityManager, deviceId: number): Promise<Owned> {
  const device = await em.findOne(Device, { id: deviceId }, { populate: ['user'] })
  if (device === null) throw new Error('The device was deleted meanwhile')
  app.devices.requireSync(device)
  if (!device.user.enabled) throw new Error("The account of the device's owner is disabled")
  const caller = await app.permissions.toCaller(device.user, { credential: 'token', device_id: device.id })
  if (caller.scopes.has('assets.write') && caller.scopes.has('devices.write')) return { device, caller }
  throw new Error('The owner of the device may not write saves')
}
