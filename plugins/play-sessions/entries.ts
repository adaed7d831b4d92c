import { invalid } from '../../core/errors.ts'
import { requireTime } from '../../core/database/times.ts'
import type { PlaySessionEntry } from './schemas.ts'

/** An entry in normalized form, independent of its dialect. */
export interface PlayEntry {
  /** The id as received; the ROM may be unknown. */
  rom_id: number | null
  start: Date
  end: Date
  duration_ms: number
  save_slot: string | null
}

/** Tolerance by which a duration may exceed the time from start to end, because devices round and count sleep. */
const DURATION_SLACK_MS = 60_000

/** Returns the duration in milliseconds, or the time from start to end if the duration is much longer. */
export function limitDuration ({ start, end, duration_ms: duration }: Pick<PlayEntry, 'start' | 'end' | 'duration_ms'>): number {
  const span = end.getTime() - start.getTime()
  return duration <= span + DURATION_SLACK_MS ? duration : span
}

/** Path of a value in a request body. */
export type BodyPath = readonly (string | number)[]

/** The field names of one dialect. */
interface Dialect {
  start: 'start' | 'start_time'
  end: 'end' | 'end_time'
  duration: 'duration_seconds' | 'duration_ms'
  unit_ms: number
}

const DIALECTS: readonly Dialect[] = [
  { start: 'start', end: 'end', duration: 'duration_seconds', unit_ms: 1_000 },
  { start: 'start_time', end: 'end_time', duration: 'duration_ms', unit_ms: 1 }
]
const namesOf = ({ start, end, duration }: Dialect) => [start, end, duration] as const

function findDialect (entry: PlaySessionEntry, path: BodyPath): Dialect {
  const used = DIALECTS.filter((dialect) => namesOf(dialect).some((name) => entry[name] !== undefined))
  const [dialect] = used
  if (dialect === undefined || used.length > 1) {
    throw invalid([...path], 'Give start and end, or else start_time and end_time', entry)
  }
  return dialect
}

function requireField<T> (value: T | undefined, path: BodyPath, name: string): T {
  if (value === undefined) throw invalid([...path, name], `'${name}' is required`, undefined, 'required')
  return value
}

function readSecond (entry: PlaySessionEntry, name: Dialect['start' | 'end'], path: BodyPath): Date {
  const time = requireTime(requireField(entry[name], path, name), [...path, name])
  time.setUTCMilliseconds(0)
  return time
}

/**
 * Reads an entry.
 *
 * @throws ApiError INVALID if dialects are mixed, a field is missing, or the end is not after the start.
 */
export function readEntry (entry: PlaySessionEntry, path: BodyPath): PlayEntry {
  const dialect = findDialect(entry, path)
  const [start, end] = [readSecond(entry, dialect.start, path), readSecond(entry, dialect.end, path)]
  if (end <= start) {
    throw invalid([...path, dialect.end], `Must be after ${dialect.start}, both cut to whole seconds`, entry[dialect.end])
  }
  const duration = entry[dialect.duration]
  const playedMs = duration === undefined ? end.getTime() - start.getTime() : duration * dialect.unit_ms
  return { rom_id: entry.rom_id ?? null, start, end, duration_ms: playedMs, save_slot: entry.save_slot ?? null }
}
