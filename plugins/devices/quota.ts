import type { Db } from '../../core/database/db.ts'
import { badRequest } from '../../core/errors.ts'
import { Device } from './entities.ts'

/** Maximum number of devices per user, more than anybody owns; lists of devices have no pages. */
const DEVICES_MAX = 200

/** True if a user has the maximum number of devices. The transaction must hold the lock on the user's row. */
export const hasAllDevices = async (tx: Db, userId: number): Promise<boolean> =>
  await tx.em.count(Device, { user: userId }) >= DEVICES_MAX

/** @throws ApiError BAD_REQUEST if a user has the maximum number of devices */
export async function checkQuota (tx: Db, userId: number): Promise<void> {
  if (await hasAllDevices(tx, userId)) throw badRequest(`You have ${DEVICES_MAX} devices already; delete some first`)
}
