import type { FastifyInstance } from 'fastify'
import type { Caller } from '../../core/access/auth.ts'
import type { Context } from '../../core/access/context.ts'
import { forbidden, notFound } from '../../core/errors.ts'
import type { Device } from '../devices/entities.ts'

type Devices = FastifyInstance['devices']
/** The id or UUID of a device. */
export type Reference = string | number

const isItself = (caller: Caller, device: Device) => caller.credential === 'token' && caller.device_id === device.id

/** Returns a device of the caller; a token that is bound to a device finds only that device. */
export async function findDevice (
  devices: Devices, { db, caller }: Context, reference: Reference
): Promise<Device> {
  const device = await devices.find(db, caller.id, reference)
  const isBound = caller.credential === 'token' && caller.device_id !== null
  if (isBound && !isItself(caller, device)) throw notFound(`Device with ID '${reference}' not found`)
  return device
}

/** Returns the device that calls. */
export async function findSelf (devices: Devices, context: Context, reference: Reference): Promise<Device> {
  const device = await findDevice(devices, context, reference)
  if (!isItself(context.caller, device)) throw forbidden('Only the device itself may send this request; use a token that is bound to it')
  return device
}
