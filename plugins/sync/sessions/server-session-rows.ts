import type { Db } from '../../../core/database/db.ts'
import type { Counts } from '../entities.ts'
import type { SessionName } from '../session-name.ts'
import { DEVICE } from './session-rows.ts'

/**
 * Returns the pending session in which the server syncs a device, or creates one. The row lock on the device makes
 * concurrent requests wait.
 *
 * @returns its id; null if the device was deleted meanwhile
 */
export async function upsertPending (tx: Db, userId: number, deviceId: number): Promise<number | null> {
  const locked = (await tx.query<object>('select 1 from devices where id = $1 for no key update', [deviceId])).rows
  if (locked.length === 0) return null
  const [waiting] = (await tx.query<{ id: number }>(
    "select id from sync_sessions where device_id = $1 and status = 'PENDING' order by id limit 1", [deviceId])).rows
  if (waiting !== undefined) return waiting.id
  const [added] = (await tx.query<{ id: number }>(
    "insert into sync_sessions (user_id, device_id, status) values ($1, $2, 'PENDING') returning id", [userId, deviceId])).rows
  return added?.id ?? null
}

/** Starts a pending session; returns null if another process started it or it expired. */
export async function beginPending (db: Db, id: number): Promise<SessionName | null> {
  const { rows: [row] } = await db.query<SessionName>(`update sync_sessions s
    set status = 'IN_PROGRESS', initiated_at = now(), updated_at = now() from devices d
    where s.id = $1 and s.status = 'PENDING' and d.id = s.device_id
    returning s.id, s.session_id, s.user_id, ${DEVICE}`, [id])
  return row ?? null
}

export async function writePlanned (db: Db, id: number, planned: number): Promise<void> {
  await db.query('update sync_sessions set operations_planned = $2, updated_at = now() where id = $1', [id, planned])
}

export async function writeCounts (db: Db, id: number, counts: Counts): Promise<void> {
  await db.query(`update sync_sessions set operations_completed = $2, operations_failed = $3, updated_at = now()
    where id = $1`, [id, counts.operations_completed, counts.operations_failed])
}

/** Ends a session that the server ran itself; such a session needs no completing request. */
export async function writeEnd (
  db: Db, id: number, status: 'COMPLETED' | 'FAILED', error: string | null
): Promise<void> {
  await db.query(`update sync_sessions set status = $2, error_message = $3, completed_at = now(), updated_at = now()
    where id = $1 and status = 'IN_PROGRESS'`, [id, status, error])
}
