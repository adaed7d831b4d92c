import type { EntityManager } from '@mikro-orm/postgresql'
import { badRequest } from '../../core/errors.ts'
import { Device } from './entities.ts'

/** More than anybody owns; lists of devices are answered whole. */
const DEVICES_MAX = 200

/** Whether a user has as many devices as may be. For a transaction that holds the lock on the user's row. */
export const hasAllDevices = async (tx: EntityManager, userId: number): Promise<boolean> =>
  await tx.count(Device, { user: userId }) >= DEVICES_MAX

/** @throws ApiError BAD_REQUEST when a user may have no further device */
export async function checkQuota (tx: EntityManager, userId: number): Promise<void> {
  if (await hasAllDevices(tx, userId)) throw badRequest(`There are ${DEVICES_MAX} devices already; delete some first`)
}
