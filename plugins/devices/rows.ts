import type { EntityManager } from '@mikro-orm/postgresql'
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
export async function upsertDevice (em: EntityManager, userId: number, app: Installation): Promise<AppDevice> {
  const [device] = await em.execute<AppDevice[]>(`insert into devices
      (user_id, client_device_identifier, name, platform, client, client_version, sync_mode, last_seen)
    values (?, ?, ?, ?, ?, ?, 'api', now())
    on conflict (user_id, client_device_identifier) do update set name = excluded.name,
      client_version = excluded.client_version, last_seen = excluded.last_seen, updated_at = now()
    returning id, device_id, name`,
  [userId, app.client_device_identifier, app.name, app.platform, app.client, app.client_version])
  if (device === undefined) throw new Error('An inserted device was not returned')
  return device
}

/** Updates the time when a device was last seen. */
export async function touchDevice (em: EntityManager, id: number): Promise<void> {
  await em.execute(`update devices set last_seen = now()
    where id = ? and (last_seen is null or last_seen < now() - interval '${SEEN_AGAIN_AFTER}')`, [id])
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
export async function findDevice (
  em: EntityManager, userId: number, { identifier, mac, hostname, platform }: Marks
): Promise<number | null> {
  const [known] = await em.execute<{ id: number }[]>(`select d.id from devices d,
      lateral (select coalesce(d.client_device_identifier = ?::text, false) as has_identifier,
        coalesce(translate(lower(d.mac_address), ':-', '') = ?::text, false) as has_mac) m
    where d.user_id = ? and (m.has_identifier or m.has_mac or (d.hostname = ?::text and d.platform = ?::text))
    order by m.has_identifier desc, m.has_mac desc, d.id limit 1`, [identifier, mac, userId, hostname, platform])
  return known?.id ?? null
}

/** Deletes the sync state and the bases of a device. */
export async function deleteSyncs (em: EntityManager, id: number): Promise<void> {
  await em.execute('delete from device_syncs where device_id = ?', [id])
  await em.execute('delete from sync_bases where device_id = ?', [id])
}

/**
 * Stores the first key that a device's host presents.
 *
 * @returns the stored key; null if the device has another host by now
 */
export async function pinHostKey (em: EntityManager, id: number, host: string, key: string): Promise<string | null> {
  const [row] = await em.execute<{ key: string }[]>(`update devices set sync_config = sync_config || jsonb_build_object(
      'ssh_host_key', coalesce(nullif(sync_config ->> 'ssh_host_key', ''), ?))
    where id = ? and sync_config ->> 'ssh_host' = ? returning sync_config ->> 'ssh_host_key' as key`, [key, id, host])
  return row?.key ?? null
}

/** A device with the token that registered it; the device was new or known. */
interface Registration { device_id: number, token_id: number | null, is_new: boolean }

/**
 * Binds a token to a device. A known device with a valid token keeps that one, because another client must not take
 * over its identity.
 */
export async function bindToken (
  em: EntityManager, { device_id: id, token_id: tokenId, is_new: isNew }: Registration
): Promise<void> {
  await em.execute(`update client_tokens t set device_id = ? where t.id = ? and t.device_id is null
    and (?::boolean or not exists (select 1 from client_tokens o
      where o.device_id = ? and (o.expires_at is null or o.expires_at > now())))`, [id, tokenId, isNew, id])
}

/** Locks a device against deletion until the transaction ends. @returns false if it was deleted already */
export async function holdDevice (tx: EntityManager, id: number): Promise<boolean> {
  const rows = await tx.execute<unknown[]>('select 1 from devices where id = ? for key share', [id])
  return rows.length > 0
}

/** Returns the UUIDs of a user's devices that have a socket open in any process. */
export async function listOnline (em: EntityManager, userId: number): Promise<string[]> {
  const rows = await em.execute<{ device_id: string }[]>(`select d.device_id from devices d where d.user_id = ?
    and exists (select 1 from device_presences p where p.device_id = d.id and p.expires_at > now()) order by d.id`, [userId])
  return rows.map((row) => row.device_id)
}
