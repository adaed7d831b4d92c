import type { Db } from '../../core/database/db.ts'
import { badRequest, notFound } from '../../core/errors.ts'
import { readReference } from '../../core/web/reference.ts'
import { Device } from './entities.ts'
import { lockDevice } from './rows.ts'

/** Returns a user's device by either of its ids; null if it does not exist or belongs to another user. */
export async function lookUp (db: Db, userId: number, reference: number | string): Promise<Device | null> {
  const id = readReference(reference, 'device_id')
  return id === null ? null : await db.em.findOne(Device, { user: userId, ...id })
}

/** @throws ApiError NOT_FOUND if the device does not exist or belongs to another user */
export async function findDevice (db: Db, userId: number, reference: number | string): Promise<Device> {
  const device = await lookUp(db, userId, reference)
  if (device === null) throw notFound(`Device with ID '${reference}' not found`)
  return device
}

/** @throws ApiError BAD_REQUEST if the owner disabled the sync of a device; apps compare the message */
export function requireSync ({ sync_enabled: isEnabled }: Device): void {
  if (!isEnabled) throw badRequest('Sync is disabled for this device')
}

/**
 * Locks a device against deletion until the transaction ends. Call it before changing any dependent row, because a
 * deletion locks in the same order.
 *
 * @throws ApiError NOT_FOUND if the device was deleted meanwhile
 */
export async function lock (
  tx: Db, { id, device_id: uuid }: Pick<Device, 'id' | 'device_id'>
): Promise<void> {
  if (!await lockDevice(tx, id)) throw notFound(`Device with ID '${uuid}' not found`)
}

/** Returns the UUID of a caller's device; null for none. */
export async function findUuid (db: Db, id: number | null): Promise<string | null> {
  if (id === null) return null
  const device = await db.em.findOne(Device, { id }, { fields: ['device_id'] })
  return device?.device_id ?? null
}
