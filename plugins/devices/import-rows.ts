import type { Db } from '../../core/database/db.ts'
import { type InsertRow, insertRows } from '../../core/database/insert-rows.ts'

const DEVICES = {
  name: 'devices',
  columns: {
    device_id: 'uuid', user_id: 'int', name: 'text', platform: 'text', client: 'text', client_version: 'text', ip_address: 'text',
    mac_address: 'text', hostname: 'text', client_device_identifier: 'text', sync_mode: 'text', sync_enabled: 'boolean',
    sync_config: 'jsonb', is_ssh_trusted: 'boolean', is_numbered: 'boolean', last_seen: 'timestamptz',
    created_at: 'timestamptz', updated_at: 'timestamptz'
  }
} as const
export type ImportedDevice = InsertRow<keyof typeof DEVICES.columns>

/** Inserts a device. @returns null if its UUID or its installation is known already */
export async function insertImportedDevice (tx: Db, device: ImportedDevice): Promise<number | null> {
  return (await insertRows(tx, DEVICES, [device]))[0] ?? null
}

/** Finds a device by its UUID, or by the installation of a user's app. */
export async function findKnownDevice (
  db: Db, by: { device_id: string, user_id: number, installation: string | null }
): Promise<{ id: number, user_id: number } | null> {
  const { rows } = await db.query<{ id: number, user_id: number }>(`select id, user_id from devices
    where device_id = $1::uuid or user_id = $2 and client_device_identifier = $3::text
    order by (device_id = $1::uuid) desc limit 1`, [by.device_id, by.user_id, by.installation])
  return rows[0] ?? null
}
