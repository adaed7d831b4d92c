import type { EntityManager } from '@mikro-orm/postgresql'
import type pg from 'pg'

/** The ids of the devices that the server can sync over SSH, unless their owners switched that off or are disabled. */
export async function selectSshDevices (pool: pg.Pool): Promise<number[]> {
  const { rows } = await pool.query<{ id: number }>(`select d.id from devices d join users u on u.id = d.user_id and u.enabled
    where d.sync_mode = 'push_pull' and d.sync_enabled and btrim(d.sync_config ->> 'ssh_host') <> '' order by d.id`)
  return rows.map((row) => row.id)
}

/** The ids of those that exchange saves through their folders. */
export async function selectFolderDevices (pool: pg.Pool): Promise<number[]> {
  const { rows } = await pool.query<{ id: number }>(`select d.id from devices d join users u on u.id = d.user_id and u.enabled
    where d.sync_mode = 'file_transfer' and d.sync_enabled order by d.id`)
  return rows.map((row) => row.id)
}

/** The device of a session; null when both are gone. */
export async function findSessionDevice (em: EntityManager, sessionId: number): Promise<number | null> {
  const [row] = await em.execute<{ device_id: number }[]>('select device_id from sync_sessions where id = ?', [sessionId])
  return row?.device_id ?? null
}
