import type { EntityManager } from '@mikro-orm/postgresql'
import { sql } from 'kysely'
import { milliseconds } from '../../core/database/columns.ts'
import type { AnyCaller } from '../platforms/visibility.ts'
import { type Condition, every } from '../roms/list-conditions.ts'
import { isRomVisible } from '../roms/visibility.ts'
import type { Played } from './entries.ts'
import type { PlaySessionRow, PlayTotalsRow } from './views.ts'

/** Whose sessions, and which of them. Times are in ISO 8601, devices by their integer id. */
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
  return every([
    sql<boolean>`s.user_id = ${user}`,
    ...(rom === undefined ? [] : [sql<boolean>`r.id = ${rom} and ${isRomVisible(caller)}`]),
    ...(device === undefined ? [] : [sql<boolean>`s.device_id = ${device}`]),
    ...(after === undefined ? [] : [sql<boolean>`s.start_time >= ${after}::timestamptz`]),
    ...(before === undefined ? [] : [sql<boolean>`s.start_time <= ${before}::timestamptz`])
  ])
}

/** Newest start first; a ROM that the viewer may not see is none. */
export async function selectSessions (
  em: EntityManager, caller: AnyCaller, selection: Selection, { limit, offset }: Page
): Promise<PlaySessionRow[]> {
  const { rows } = await sql<PlaySessionRow>`select s.id, s.user_id, d.device_id,
      case when ${isRomVisible(caller)} then r.id end as rom_id, s.sync_session_id, s.save_slot,
      ${milliseconds('s.start_time')} as start_time, ${milliseconds('s.end_time')} as end_time,
      s.duration_ms::float8 as duration_ms, ${milliseconds('s.created_at')} as created_at,
      ${milliseconds('s.updated_at')} as updated_at
    from play_sessions s left join devices d on d.id = s.device_id
      left join roms r on r.id = s.rom_id left join platforms p on p.id = r.platform_id
    where ${toCondition(caller, selection)} order by s.start_time desc, s.id desc
    limit ${limit} offset ${offset}`.execute(em.getKysely())
  return rows
}

/** One row per ROM that the viewer may see, what was played last first. */
export async function selectTotals (
  em: EntityManager, caller: AnyCaller, selection: Selection, { limit, offset }: Page
): Promise<PlayTotalsRow[]> {
  const { rows } = await sql<PlayTotalsRow>`select s.rom_id, sum(s.duration_ms)::float8 as total_ms,
      count(*)::int as sessions, (extract(epoch from max(s.end_time)) * 1000)::float8 as last_played
    from play_sessions s join roms r on r.id = s.rom_id join platforms p on p.id = r.platform_id
    where ${toCondition(caller, selection)} and ${isRomVisible(caller)}
    group by s.rom_id order by max(s.end_time) desc, s.rom_id limit ${limit} offset ${offset}`.execute(em.getKysely())
  return rows
}

/** Who played, and on what. */
export interface Owner {
  user_id: number
  /** The device that played, one of the user's. */
  device_id: number | null
  sync_session_id: number | null
}

/** `identity` tells it from all others of the user. */
export interface NewSession extends Played { identity: string }

/**
 * In the order of their identities, so that two requests with the same entries do not wait for each other.
 *
 * @returns the ids of those that are new, by identity
 */
export async function insertSessions (
  em: EntityManager, to: Owner, entries: readonly NewSession[]
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
    on conflict (user_id, identity) do nothing returning id, identity`.execute(em.getKysely())
  return new Map(rows.map((row) => [row.identity, row.id]))
}

/** Locks what entries refer to until the transaction ends; answers which of the ROMs are there. */
export async function lockSubjects (
  em: EntityManager, deviceId: number | null, romIds: readonly number[]
): Promise<Set<number>> {
  if (deviceId !== null) await em.execute('select 1 from devices where id = ? for key share', [deviceId])
  const { rows } = await sql<{ id: number }>`select id from roms where id = any(${romIds}::int[])
    order by id for key share`.execute(em.getKysely())
  return new Set(rows.map((row) => row.id))
}
