import { sql } from 'kysely'
import type { Context } from '../../core/access/context.ts'
import { selectMilliseconds } from '../../core/database/columns.ts'
import type { Db } from '../../core/database/db.ts'
import type { AnyCaller } from '../platforms/visibility.ts'
import { isRomVisible } from '../roms/visibility.ts'
import type { SessionName } from './session-name.ts'

const DEVICE = "json_build_object('id', d.id, 'device_id', d.device_id, 'is_numbered', d.is_numbered) as device"

/** Progress of a run. */
export interface Counts { operations_completed: number, operations_failed: number }

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

/** A save that a file of a device may belong to. */
export interface Candidate {
  rom_id: number
  rom_name: string
  file_name: string
  /** The platform's folder name and its slug. */
  fs_slug: string
  slug: string
  updated_at: number
}

/** Selects a user's saves in slots, for ROMs of platforms with one of these folder names or slugs; newest first. */
export async function selectCandidates (
  { db, caller }: Context<NonNullable<AnyCaller>>, platforms: readonly string[]
): Promise<Candidate[]> {
  const { rows } = await sql<Candidate>`select a.rom_id, coalesce(r.name, r.fs_name_no_tags) as rom_name, a.file_name,
      p.fs_slug, p.slug, ${selectMilliseconds('a.updated_at')} as updated_at
    from assets a join roms r on r.id = a.rom_id join platforms p on p.id = r.platform_id
    where a.user_id = ${caller.id} and a.kind = 'save' and a.slot is not null and a.deleted_at is null
      and (p.fs_slug = any(${platforms}::text[]) or p.slug = any(${platforms}::text[])) and ${isRomVisible(caller)}
    order by a.updated_at desc, a.id desc`.execute(db)
  return rows
}
