import { sql } from 'kysely'
import { selectMilliseconds } from '../../../core/database/columns.ts'
import type { Db } from '../../../core/database/db.ts'
import type { PlannedDownload } from '../entities.ts'
import type { SessionName } from '../session-name.ts'
import type { AssetRow } from '../rows.ts'

/** The device `d` of a session, for statements that return sessions. */
export const DEVICE = "json_build_object('id', d.id, 'device_id', d.device_id, 'is_numbered', d.is_numbered) as device"

/**
 * Updates the time when a device was last seen. The row lock also serializes the requests of one device.
 *
 * @returns false if the device was deleted meanwhile
 */
export async function touchAndLockDevice (tx: Db, deviceId: number): Promise<boolean> {
  const updated = (await tx.query<object>('update devices set last_seen = now() where id = $1 returning id', [deviceId])).rows
  return updated.length > 0
}

export interface NewSession {
  session_id: string
  user_id: number
  device_id: number
  operations_planned: number
  downloads: readonly PlannedDownload[]
}

/** @returns the id of the new session */
export async function insertSession (tx: Db, session: NewSession): Promise<number> {
  const [row] = (await tx.query<{ id: number }>(`insert into sync_sessions
    (session_id, user_id, device_id, operations_planned, downloads) values ($1, $2, $3, $4, $5) returning id`,
  [session.session_id, session.user_id, session.device_id, session.operations_planned,
    JSON.stringify(session.downloads)])).rows
  return row?.id ?? 0
}

/** Offered content that is still current on the server, share-locked until the transaction ends. */
export type OfferedRow = { asset_id: number } &
  Pick<AssetRow, 'rom_id' | 'kind' | 'slot' | 'file_name' | 'sha1' | 'content_hash' | 'updated_at'>

export async function selectOffered (tx: Db, downloads: readonly PlannedDownload[]): Promise<OfferedRow[]> {
  const ids = downloads.map((download) => download.asset_id)
  const { rows } = await sql<OfferedRow>`select a.id as asset_id, a.rom_id, a.kind, a.slot, a.file_name,
      a.sha1, a.content_hash, ${selectMilliseconds('a.updated_at')} as updated_at
    from unnest(${ids}::int[], ${downloads.map((download) => download.sha1)}::text[]) as given (id, sha1)
    join assets a on a.id = given.id and a.sha1 = given.sha1 order by a.id for share of a`.execute(tx)
  return rows
}

export type CountedSession = SessionName & { operations_completed: number, operations_planned: number }

/** Counts an operation of a user's open session by either of its ids; returns undefined if there is no such session. */
export async function countOperation (
  db: Db, userId: number, { id, session_id: uuid }: { id?: number, session_id?: string }
): Promise<CountedSession | undefined> {
  const [row] = (await db.query<CountedSession>(`update sync_sessions s
    set operations_completed = s.operations_completed + 1, updated_at = now()
    from devices d where d.id = s.device_id and s.user_id = $1 and (s.id = $2::int or s.session_id = $3::uuid)
      and s.status in ('PENDING', 'IN_PROGRESS')
    returning s.id, s.session_id, s.user_id, ${DEVICE}, s.operations_completed, s.operations_planned`,
  [userId, id ?? null, uuid ?? null])).rows
  return row
}

/** Fails sessions that were open for too long. */
export async function expireSessions (db: Db, afterHours: number, reason: string): Promise<SessionName[]> {
  const { rows } = await db.query<SessionName>(`update sync_sessions s
    set status = 'FAILED', error_message = $1, downloads = '[]', updated_at = now() from devices d
    where d.id = s.device_id and s.status in ('PENDING', 'IN_PROGRESS')
      and s.initiated_at < now() - make_interval(hours => $2)
    returning s.id, s.session_id, s.user_id, ${DEVICE}`, [reason, afterHours])
  return rows
}

/** Deletes sessions that ended long ago. */
export async function deleteEnded (db: Db, afterDays: number): Promise<void> {
  await db.query(`delete from sync_sessions where status not in ('PENDING', 'IN_PROGRESS')
    and coalesce(completed_at, updated_at) < now() - make_interval(days => $1)`, [afterDays])
}
