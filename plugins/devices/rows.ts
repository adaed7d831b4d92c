import type { Db } from '../../core/database/db.ts'
import type { Device } from './entities.ts'

/** Properties of an installation of an app. */
export interface Installation {
  /** Stable for one installation. */
  client_device_identifier: string
  name: string
  client: string
  platform: string | null
  client_version: string | null
}

/** Both ids of a device, and its name. */
export type AppDevice = Pick<Device, 'id' | 'device_id'> & { name: string }

/** Minimum time between two writes of a device's last use. */
const SEEN_AGAIN_AFTER = '5 minutes'

/** Returns the user's device for an installation: the existing one, updated, or a new one. */
export async function upsertDevice (db: Db, userId: number, app: Installation): Promise<AppDevice> {
  const [device] = (await db.query<AppDevice>(`insert into devices
      (user_id, client_device_identifier, name, platform, client, client_version, sync_mode, last_seen)
    values ($1, $2, $3, $4, $5, $6, 'api', now())
    on conflict (user_id, client_device_identifier) do update set name = excluded.name,
      client_version = excluded.client_version, last_seen = excluded.last_seen, updated_at = now()
    returning id, device_id, name`,
  [userId, app.client_device_identifier, app.name, app.platform, app.client, app.client_version])).rows
  if (device === undefined) throw new Error('An inserted device was not returned')
  return device
}

/** Updates the time when a device was last seen. */
export async function touchDevice (db: Db, id: number): Promise<void> {
  await db.query(`update devices set last_seen = now()
    where id = $1 and (last_seen is null or last_seen < now() - interval '${SEEN_AGAIN_AFTER}')`, [id])
}

/** Properties by which a known device is recognized. */
export interface Marks {
  /** Stable for one installation of an app. */
  identifier: string | null
  /** Lower case, without separators. */
  mac: string | null
  hostname: string | null
  platform: string | null
}

/**
 * Finds a user's device by the identifier of its app. Otherwise the same hardware address matches in any notation, or
 * else the same host name and platform.
 */
export async function recognizeDevice (
  db: Db, userId: number, { identifier, mac, hostname, platform }: Marks
): Promise<number | null> {
  const [known] = (await db.query<{ id: number }>(`select d.id from devices d,
      lateral (select coalesce(d.client_device_identifier = $1::text, false) as has_identifier,
        coalesce(translate(lower(d.mac_address), ':-', '') = $2::text, false) as has_mac) m
    where d.user_id = $3 and (m.has_identifier or m.has_mac or (d.hostname = $4::text and d.platform = $5::text))
    order by m.has_identifier desc, m.has_mac desc, d.id limit 1`, [identifier, mac, userId, hostname, platform])).rows
  return known?.id ?? null
}

/** Deletes the sync state and the bases of a device. */
export async function deleteSyncs (db: Db, id: number): Promise<void> {
  await db.query('delete from device_syncs where device_id = $1', [id])
  await db.query('delete from sync_bases where device_id = $1', [id])
}

/**
 * Stores the first key that a device's host presents.
 *
 * @returns the stored key; null if the device has another host by now
 */
export async function pinHostKey (db: Db, id: number, host: string, key: string): Promise<string | null> {
  const [row] = (await db.query<{ key: string }>(`update devices set sync_config = sync_config || jsonb_build_object(
      'ssh_host_key', coalesce(nullif(sync_config ->> 'ssh_host_key', ''), $1))
    where id = $2 and sync_config ->> 'ssh_host' = $3 returning sync_config ->> 'ssh_host_key' as key`, [key, id, host])).rows
  return row?.key ?? null
}

/** A device with the token that registered it; the device was new or known. */
interface Registration { device_id: number, token_id: number | null, is_new: boolean }

/**
 * Binds a token to a device. A known device with a valid token keeps that one, because another client must not take
 * over its identity.
 */
export async function bindToken (
  db: Db, { device_id: id, token_id: tokenId, is_new: isNew }: Registration
): Promise<void> {
  await db.query(`update client_tokens t set device_id = $1 where t.id = $2 and t.device_id is null
    and ($3::boolean or not exists (select 1 from client_tokens o
      where o.device_id = $4 and (o.expires_at is null or o.expires_at > now())))`, [id, tokenId, isNew, id])
}

/** Locks a device against deletion until the transaction ends. @returns false if it was deleted already */
export async function lockDevice (tx: Db, id: number): Promise<boolean> {
  const rows = (await tx.query<object>('select 1 from devices where id = $1 for key share', [id])).rows
  return rows.length > 0
}

/** Returns the UUIDs of a user's devices that have a socket open in any process. */
export async function listOnline (db: Db, userId: number): Promise<string[]> {
  const rows = (await db.query<{ device_id: string }>(`select d.device_id from devices d where d.user_id = $1
    and exists (select 1 from device_presences p where p.device_id = d.id and p.expires_at > now()) order by d.id`, [userId])).rows
  return rows.map((row) => row.device_id)
}
