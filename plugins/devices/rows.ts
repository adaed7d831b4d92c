import type { EntityManager } from '@mikro-orm/postgresql'
import type { Device } from './entities.ts'

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
export type AppDevice = Pick<Device, 'id' | 'device_id'> & { name: string }

/** A device's last use is written at most this often. */
const SEEN_AGAIN_AFTER = '5 minutes'

/** The user's device for an installation: the one there is, brought up to date, or a new one. */
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

/** Notes that a device was here. */
export async function touchDevice (em: EntityManager, id: number): Promise<void> {
  await em.execute(`update devices set last_seen = now()
    where id = ? and (last_seen is null or last_seen < now() - interval '${SEEN_AGAIN_AFTER}')`, [id])
}

/** How a device may be known again. */
export interface Marks {
  /** Stable for one installation of an app. */
  identifier: string | null
  /** Lower case, without separators. */
  mac: string | null
  hostname: string | null
  platform: string | null
}

/**
 * A user's device with the same identifier of its app; else with the same hardware address, whatever its notation; else
 * with the same host name and platform.
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

/** Forgets all that a device and the server agreed on. */
export async function deleteSyncs (em: EntityManager, id: number): Promise<void> {
  await em.execute('delete from device_syncs where device_id = ?', [id])
  await em.execute('delete from sync_bases where device_id = ?', [id])
}

/**
 * Keeps the key that a device's host showed first.
 *
 * @returns the one that is kept; null when the host is another by now
 */
export async function pinHostKey (em: EntityManager, id: number, host: string, key: string): Promise<string | null> {
  const [row] = await em.execute<{ key: string }[]>(`update devices set sync_config = sync_config || jsonb_build_object(
      'ssh_host_key', coalesce(nullif(sync_config ->> 'ssh_host_key', ''), ?))
    where id = ? and sync_config ->> 'ssh_host' = ? returning sync_config ->> 'ssh_host_key' as key`, [key, id, host])
  return row?.key ?? null
}

/** Who registered a device, which was new or known. */
interface Registration { device_id: number, token_id: number | null, is_new: boolean }

/** A known device has its own token: whoever else says to be it is not given the device's place. */
export async function bindToken (
  em: EntityManager, { device_id: id, token_id: tokenId, is_new: isNew }: Registration
): Promise<void> {
  await em.execute(`update client_tokens t set device_id = ? where t.id = ? and t.device_id is null
    and (?::boolean or not exists (select 1 from client_tokens o
      where o.device_id = ? and (o.expires_at is null or o.expires_at > now())))`, [id, tokenId, isNew, id])
}

/** Keeps a device from being deleted until the transaction ends. @returns false when it was deleted already */
export async function holdDevice (tx: EntityManager, id: number): Promise<boolean> {
  const rows = await tx.execute<unknown[]>('select 1 from devices where id = ? for key share', [id])
  return rows.length > 0
}

/** The UUIDs of a user's devices that have a socket open in any process. */
export async function listOnline (em: EntityManager, userId: number): Promise<string[]> {
  const rows = await em.execute<{ device_id: string }[]>(`select d.device_id from devices d where d.user_id = ?
    and exists (select 1 from device_presences p where p.device_id = d.id and p.expires_at > now()) order by d.id`, [userId])
  return rows.map((row) => row.device_id)
}
