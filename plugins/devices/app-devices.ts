import type { EntityManager } from '@mikro-orm/postgresql'
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
  async admit (em: EntityManager, userId: number, app: Installation): Promise<AppDevice> {
    const isKnown = await em.count(Device, { user: userId, client_device_identifier: app.client_device_identifier }) > 0
    if (!isKnown) await checkQuota(em, userId)
    return await upsertDevice(em, userId, app)
  },

  /** Updates the time when a device was last seen. */
  touch: touchDevice
}
