import type { EntityManager } from '@mikro-orm/postgresql'
import { sql } from 'kysely'
import { milliseconds } from '../../core/database/columns.ts'
import type { Viewer } from '../platforms/visibility.ts'
import { type Condition, every } from '../roms/conditions.ts'
import { isRomVisible } from '../roms/visibility.ts'
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

function toCondition (viewer: Viewer, selection: Selection): Condition {
  const { user_id: user, rom_id: rom, device_id: device, start_after: after, end_before: before } = selection
  return every([
    sql<boolean>`s.user_id = ${user}`,
    ...(rom === undefined ? [] : [sql<boolean>`r.id = ${rom} and ${isRomVisible(viewer)}`]),
    ...(device === undefined ? [] : [sql<boolean>`s.device_id = ${device}`]),
    ...(after === undefined ? [] : [sql<boolean>`s.start_time >= ${after}::timestamptz`]),
    ...(before === undefined ? [] : [sql<boolean>`s.start_time <= ${before}::timestamptz`])
  ])
}

/** Newest start first; a ROM that the viewer may not see is none. */
export async function selectSessions (
  em: EntityManager, viewer: Viewer, selection: Selection, { limit, offset }: Page
): Promise<PlaySessionRow[]> {
  const { rows } = await sql<PlaySessionRow>`select s.id, s.user_id, d.device_id,
      case when ${isRomVisible(viewer)} then r.id end as rom_id, s.sync_session_id, s.save_slot,
      ${milliseconds('s.start_time')} as start_time, ${milliseconds('s.end_time')} as end_time,
      s.duration_ms::float8 as duration_ms, ${milliseconds('s.created_at')} as created_at,
      ${milliseconds('s.updated_at')} as updated_at
    from play_sessions s left join devices d on d.id = s.device_id
      left join roms r on r.id = s.rom_id left join platforms p on p.id = r.platform_id
    where ${toCondition(viewer, selection)} order by s.start_time desc, s.id desc
    limit ${limit} offset ${offset}`.execute(em.getKysely())
  return rows
}

/** One row per ROM that the viewer may see, what was played last first. */
export async function selectTotals (
  em: EntityManager, viewer: Viewer, selection: Selection, { limit, offset }: Page
): Promise<PlayTotalsRow[]> {
  const { rows } = await sql<PlayTotalsRow>`select s.rom_id, sum(s.duration_ms)::float8 as total_ms,
      count(*)::int as sessions, (extract(epoch from max(s.end_time)) * 1000)::float8 as last_played
    from play_sessions s join roms r on r.id = s.rom_id join platforms p on p.id = r.platform_id
    where ${toCondition(viewer, selection)} and ${isRomVisible(viewer)}
    group by s.rom_id order by max(s.end_time) desc, s.rom_id limit ${limit} offset ${offset}`.execute(em.getKysely())
  return rows
}
