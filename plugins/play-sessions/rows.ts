import { sql } from 'kysely'
import type { Context } from '../../core/access/context.ts'
import { selectMilliseconds } from '../../core/database/columns.ts'
import { type Condition, allOf } from '../../core/database/conditions.ts'
import type { Db } from '../../core/database/db.ts'
import type { AnyCaller } from '../platforms/visibility.ts'
import { isRomVisible } from '../roms/visibility.ts'
import type { PlayEntry } from './entries.ts'
import type { PlaySessionRow, PlayTotalsRow } from './views.ts'

/** Conditions on play sessions. Times are in ISO 8601, devices are integer ids. */
export interface Selection {
  user_id: number
  rom_id: number | undefined
  device_id?: number | undefined
  start_after?: string | undefined
  end_before?: string | undefined
}

export interface Page { limit: number, offset: number }

function toCondition (caller: AnyCaller, selection: Selection): Condition {
  const { user_id: user, rom_id: rom, device_id: device, start_after: after, end_before: before } = selection
  return allOf([
    sql<boolean>`s.user_id = ${user}`,
    ...(rom === undefined ? [] : [sql<boolean>`r.id = ${rom} and ${isRomVisible(caller)}`]),
    ...(device === undefined ? [] : [sql<boolean>`s.device_id = ${device}`]),
    ...(after === undefined ? [] : [sql<boolean>`s.start_time >= ${after}::timestamptz`]),
    ...(before === undefined ? [] : [sql<boolean>`s.start_time <= ${before}::timestamptz`])
  ])
}

/** Selects play sessions, newest start first. A ROM that is not visible to the caller becomes null. */
export async function selectSessions (
  { db, caller }: Context<AnyCaller>, selection: Selection, { limit, offset }: Page
): Promise<PlaySessionRow[]> {
  const { rows } = await sql<PlaySessionRow>`select s.id, s.user_id, d.device_id,
      case when ${isRomVisible(caller)} then r.id end as rom_id, s.sync_session_id, s.save_slot,
      ${selectMilliseconds('s.start_time')} as start_time, ${selectMilliseconds('s.end_time')} as end_time,
      s.duration_ms::float8 as duration_ms, ${selectMilliseconds('s.created_at')} as created_at,
      ${selectMilliseconds('s.updated_at')} as updated_at
    from play_sessions s left join devices d on d.id = s.device_id
      left join roms r on r.id = s.rom_id left join platforms p on p.id = r.platform_id
    where ${toCondition(caller, selection)} order by s.start_time desc, s.id desc
    limit ${limit} offset ${offset}`.execute(db)
  return rows
}

/** Selects one row per ROM that is visible to the caller, last played first. */
export async function selectTotals (
  { db, caller }: Context<AnyCaller>, selection: Selection, { limit, offset }: Page
): Promise<PlayTotalsRow[]> {
  const { rows } = await sql<PlayTotalsRow>`select s.rom_id, sum(s.duration_ms)::float8 as total_ms,
      count(*)::int as sessions, (extract(epoch from max(s.end_time)) * 1000)::float8 as last_played
    from play_sessions s join roms r on r.id = s.rom_id join platforms p on p.id = r.platform_id
    where ${toCondition(caller, selection)} and ${isRomVisible(caller)}
    group by s.rom_id order by max(s.end_time) desc, s.rom_id limit ${limit} offset ${offset}`.execute(db)
  return rows
}

/** The user and device of a play session. */
export interface Owner {
  user_id: number
  /** The user's device on which the game was played. */
  device_id: number | null
  sync_session_id: number | null
}

/** A play session with its `identity`, which is unique per user. */
export interface NewSession extends PlayEntry { identity: string }

/**
 * Inserts play sessions in the order of their identities, because two requests with the same entries must not deadlock.
 *
 * @returns the ids of the new play sessions, by identity
 */
export async function insertSessions (
  db: Db, to: Owner, entries: readonly NewSession[]
): Promise<Map<string, number>> {
  const { rows } = await sql<{ id: number, identity: string }>`insert into play_sessions
    (user_id, device_id, sync_session_id, identity, rom_id, save_slot, start_time, end_time, duration_ms)
    select ${to.user_id}::int, (select id from devices where id = ${to.device_id}::int),
      (select id from sync_sessions where id = ${to.sync_session_id}::int), given.identity, given.rom_id, given.save_slot,
      given.start_time, given.end_time, given.duration_ms
    from unnest(${entries.map((entry) => entry.identity)}::text[], ${entries.map((entry) => entry.rom_id)}::int[],
      ${entries.map((entry) => entry.save_slot)}::text[], ${entries.map((entry) => entry.start.toISOString())}::timestamptz[],
      ${entries.map((entry) => entry.end.toISOString())}::timestamptz[], ${entries.map((entry) => entry.duration_ms)}::bigint[])
      as given (identity, rom_id, save_slot, start_time, end_time, duration_ms)
    order by given.identity
    on conflict (user_id, identity) do nothing returning id, identity`.execute(db)
  return new Map(rows.map((row) => [row.identity, row.id]))
}

/** Locks the device and the ROMs of entries until the transaction ends. Returns the ROMs that exist. */
export async function lockSubjects (
  db: Db, deviceId: number | null, romIds: readonly number[]
): Promise<Set<number>> {
  if (deviceId !== null) await db.query('select 1 from devices where id = $1 for key share', [deviceId])
  const { rows } = await sql<{ id: number }>`select id from roms where id = any(${romIds}::int[])
    order by id for key share`.execute(db)
  return new Set(rows.map((row) => row.id))
}
