import type { EntityManager } from '@mikro-orm/postgresql'
import { Device } from './entities.ts'
import { checkQuota } from './quota.ts'
import { type AppDevice, type Installation, touchDevice, upsertDevice } from './rows.ts'

/** Devices that an app makes of itself, by being let in. */
export const appDevices = {
  /**
   * The user's device for an installation: the one there is, brought up to date, or a new one. For a transaction that
   * holds the lock on the user's row.
   *
   * @throws ApiError BAD_REQUEST when there are as many devices as may be
   */
  async admit (em: EntityManager, userId: number, app: Installation): Promise<AppDevice> {
    const isKnown = await em.count(Device, { user: userId, client_device_identifier: app.client_device_identifier }) > 0
    if (!isKnown) await checkQuota(em, userId)
    return await upsertDevice(em, userId, app)
  },

  /** Notes that a device was here. */
  touch: touchDevice
}
