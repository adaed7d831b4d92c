import type { EntityManager } from '@mikro-orm/postgresql'
import { sql } from 'kysely'
import type pg from 'pg'
import { milliseconds } from '../../core/database/columns.ts'
import type { PlannedDownload } from './entities.ts'
import type { SessionName } from './session-name.ts'
import type { AssetRow } from './rows.ts'

const DEVICE = "json_build_object('id', d.id, 'device_id', d.device_id, 'is_numbered', d.is_numbered) as device"

/**
 * Updates the time when a device was last seen. The row lock also serializes the requests of one device.
 *
 * @returns false if the device was deleted meanwhile
 */
export async function holdSeenDevice (tx: EntityManager, deviceId: number): Promise<boolean> {
  const known = await tx.execute<object[]>('update devices set last_seen = now() where id = ? returning id', [deviceId])
  return known.length > 0
}

export interface NewSession {
  session_id: string
  user_id: number
  device_id: number
  operations_planned: number
  downloads: readonly PlannedDownload[]
}

/** @returns the id of the new session */
export async function insertSession (tx: EntityManager, session: NewSession): Promise<number> {
  const [row] = await tx.execute<{ id: number }[]>(`insert into sync_sessions
    (session_id, user_id, device_id, operations_planned, downloads) values (?, ?, ?, ?, ?) returning id`,
  [session.session_id, session.user_id, session.device_id, session.operations_planned,
    JSON.stringify(session.downloads)])
  return row?.id ?? 0
}

/** Offered content that is still current on the server, share-locked until the transaction ends. */
export type HeldRow = { asset_id: number } &
  Pick<AssetRow, 'rom_id' | 'kind' | 'slot' | 'file_name' | 'sha1' | 'content_hash' | 'updated_at'>

export async function selectHeld (tx: EntityManager, downloads: readonly PlannedDownload[]): Promise<HeldRow[]> {
  const ids = downloads.map((download) => download.asset_id)
  const { rows } = await sql<HeldRow>`select a.id as asset_id, a.rom_id, a.kind, a.slot, a.file_name,
      a.sha1, a.content_hash, ${milliseconds('a.updated_at')} as updated_at
    from unnest(${ids}::int[], ${downloads.map((download) => download.sha1)}::text[]) as given (id, sha1)
    join assets a on a.id = given.id and a.sha1 = given.sha1 order by a.id for share of a`.execute(tx.getKysely())
  return rows
}

export type CountedSession = SessionName & { operations_completed: number, operations_planned: number }

/** Counts an operation of a user's open session by either of its ids; returns undefined if there is no such session. */
export async function countOperation (
  em: EntityManager, userId: number, { id, session_id: uuid }: { id?: number, session_id?: string }
): Promise<CountedSession | undefined> {
  const [row] = await em.execute<CountedSession[]>(`update sync_sessions s
    set operations_completed = s.operations_completed + 1, updated_at = now()
    from devices d where d.id = s.device_id and s.user_id = ? and (s.id = ?::int or s.session_id = ?::uuid)
      and s.status in ('PENDING', 'IN_PROGRESS')
    returning s.id, s.session_id, s.user_id, ${DEVICE}, s.operations_completed, s.operations_planned`,
  [userId, id ?? null, uuid ?? null])
  return row
}

/** Fails sessions that were open for too long. */
export async function expireSessions (pool: pg.Pool, afterHours: number, reason: string): Promise<SessionName[]> {
  const { rows } = await pool.query<SessionName>(`update sync_sessions s
    set status = 'FAILED', error_message = $1, downloads = '[]', updated_at = now() from devices d
    where d.id = s.device_id and s.status in ('PENDING', 'IN_PROGRESS')
      and s.initiated_at < now() - make_interval(hours => $2)
    returning s.id, s.session_id, s.user_id, ${DEVICE}`, [reason, afterHours])
  return rows
}

/** Deletes sessions that ended long ago. */
export async function deleteEnded (pool: pg.Pool, afterDays: number): Promise<void> {
  await pool.query(`delete from sync_sessions where status not in ('PENDING', 'IN_PROGRESS')
    and coalesce(completed_at, updated_at) < now() - make_interval(days => $1)`, [afterDays])
}
