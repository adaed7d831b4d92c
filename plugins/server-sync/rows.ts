import type { Db } from '../../core/database/db.ts'

/**
 * Selects the ids of devices that the server syncs over SSH. Devices with disabled sync or a disabled owner are
 * skipped.
 */
export async function selectSshDevices (db: Db): Promise<number[]> {
  const { rows } = await db.query<{ id: number }>(`select d.id from devices d join users u on u.id = d.user_id and u.enabled
    where d.sync_mode = 'push_pull' and d.sync_enabled and btrim(d.sync_config ->> 'ssh_host') <> '' order by d.id`)
  return rows.map((row) => row.id)
}

/** Selects the ids of devices that exchange saves through their folders. */
export async function selectFolderDevices (db: Db): Promise<number[]> {
  const { rows } = await db.query<{ id: number }>(`select d.id from devices d join users u on u.id = d.user_id and u.enabled
    where d.sync_mode = 'file_transfer' and d.sync_enabled order by d.id`)
  return rows.map((row) => row.id)
}

/** Returns the device of a session; null if both are gone. */
export async function findSessionDevice (db: Db, sessionId: number): Promise<number | null> {
  const [row] = (await db.query<{ device_id: number }>('select device_id from sync_sessions where id = $1', [sessionId])).rows
  return row?.device_id ?? null
}
