import type { Db } from '../../core/database/db.ts'
import { Device } from './entities.ts'
import { checkQuota } from './quota.ts'
import { type AppDevice, type Installation, touchDevice, upsertDevice } from './rows.ts'

/** Devices of apps, which register themselves when a user admits them. */
export const appDevices = {
  /**
   * Returns the user's device for an installation: the existing one, updated, or a new one. The transaction must hold
   * the lock on the user's row.
   *
   * @throws ApiError BAD_REQUEST if the user has the maximum number of devices
   */
  async findOrCreate (db: Db, userId: number, app: Installation): Promise<AppDevice> {
    const { client_device_identifier: identifier } = app
    const isKnown = await db.em.count(Device, { user: userId, client_device_identifier: identifier }) > 0
    if (!isKnown) await checkQuota(db, userId)
    return await upsertDevice(db, userId, app)
  },

  /** Updates the time when a device was last seen. */
  touch: touchDevice
}
