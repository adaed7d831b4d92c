import { formatDate } from '../../core/typebox.ts'
import type { PlaySessionView, PlayTotalsView } from './schemas.ts'

/** A row with the UUID of its device. Times are milliseconds since 1970. */
export interface PlaySessionRow extends Pick<PlaySessionView, 'id' | 'user_id' | 'device_id' | 'rom_id' | 'sync_session_id' |
  'save_slot' | 'duration_ms'> {
  start_time: number
  end_time: number
  created_at: number
  updated_at: number
}

export function toPlaySessionView (row: PlaySessionRow): PlaySessionView {
  const [start, end] = [formatDate(row.start_time), formatDate(row.end_time)]
  return {
    ...row,
    start_time: start,
    end_time: end,
    start,
    end,
    duration_seconds: Math.round(row.duration_ms / 1_000),
    created_at: formatDate(row.created_at),
    updated_at: formatDate(row.updated_at)
  }
}

export interface PlayTotalsRow extends Omit<PlayTotalsView, 'last_played'> { last_played: number }

export const toPlayTotalsView = (row: PlayTotalsRow): PlayTotalsView =>
  ({ ...row, last_played: formatDate(row.last_played) })
