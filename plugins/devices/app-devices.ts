import type { EntityManager } from '@mikro-orm/postgresql'
import { Device } from './entities.ts'
import { checkQuota } from './quota.ts'

/** What an app says of the installation that it is. */
export interface Installation {
  /** Stable for one installation. */
  client_device_identifier: string
  name: string
  client: string
  platform: string | null
  client_version: string | null
}

/** The ids of a device on both sides of the wire. */
export interface AppDevice { id: number, device_id: string, name: string }

/** A device's last use is written at most this often. */
const SEEN_AGAIN_AFTER = '5 minutes'

const ADMIT = `insert into devices (user_id, client_device_identifier, name, platform, client, client_version, sync_mode, last_seen)
  values (?, ?, ?, ?, ?, ?, 'api', now())
  on conflict (user_id, client_device_identifier) do update set name = excluded.name,
    client_version = excluded.client_version, last_seen = excluded.last_seen, updated_at = now()
  returning id, device_id, name`

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
    const [device] = await em.execute<AppDevice[]>(ADMIT,
      [userId, app.client_device_identifier, app.name, app.platform, app.client, app.client_version])
    if (device === undefined) throw new Error('An inserted device was not returned')
    return device
  },

  /** Notes that a device was here. */
  async touch (em: EntityManager, id: number): Promise<void> {
    await em.execute(`update devices set last_seen = now()
      where id = ? and (last_seen is null or last_seen < now() - interval '${SEEN_AGAIN_AFTER}')`, [id])
  }
}
