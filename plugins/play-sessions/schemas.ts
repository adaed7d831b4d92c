import { type Static, Type } from '@sinclair/typebox'
import { DateTime, ID_MAX, LIMIT_MAX, Limit, Nullable, Offset, StoredText, StringEnum, idOf } from '../../core/typebox.ts'
import { DeviceReference } from '../devices/schemas.ts'

const DIALECTS = 'An entry needs start and end, with duration_seconds, or start_time and end_time, with ' +
  'duration_ms. The default duration is the time between start and end'
const UtcTime = Type.String({ maxLength: 64, description: 'ISO 8601; UTC if it has no offset' })
const Time = Type.Optional(UtcTime)
const Duration = Type.Optional(Type.Integer({ minimum: 0 }))

const ENTRY = {
  rom_id: Type.Optional(Nullable(Type.Integer({ description: 'An unknown id is stored as null' }))),
  start: Time,
  end: Time,
  duration_seconds: Duration,
  start_time: Time,
  end_time: Time,
  duration_ms: Duration,
  save_slot: Type.Optional(Nullable(StoredText({ maxLength: 255 })))
}

/** A play session as clients send it, in either dialect; `readEntry` distinguishes them. */
export const PlaySessionEntrySchema = Type.Object(ENTRY, { title: 'PlaySessionEntry', description: DIALECTS })
export type PlaySessionEntry = Static<typeof PlaySessionEntrySchema>

const Entries = Type.Optional(Type.Array(PlaySessionEntrySchema, { description: 'At most 100' }))

/** A list under either name, or a single entry. */
export const IngestPlaySessionsSchema = Type.Object({
  device_id: Type.Optional(Nullable(DeviceReference)), sessions: Entries, play_sessions: Entries, ...ENTRY
}, { title: 'IngestPlaySessions', description: `A list of entries, or one entry. ${DIALECTS}` })
export type IngestPlaySessions = Static<typeof IngestPlaySessionsSchema>

const PlaySessionIngestResultSchema = Type.Object({
  index: Type.Integer({ description: 'Position in the request' }),
  status: StringEnum(['created', 'duplicate', 'error']),
  id: Nullable(Type.Integer()),
  detail: Nullable(Type.String())
}, { title: 'PlaySessionIngestResult' })
export type PlaySessionIngestResult = Static<typeof PlaySessionIngestResultSchema>

export const PlaySessionIngestResponseSchema = Type.Object({
  results: Type.Array(PlaySessionIngestResultSchema, { description: 'Errors, then duplicates, then created sessions' }),
  created_count: Type.Integer(),
  skipped_count: Type.Integer({ description: 'Number of entries that were not created' })
}, { title: 'PlaySessionIngestResponse' })
export type PlaySessionIngestResponse = Static<typeof PlaySessionIngestResponseSchema>

export const PlaySessionSchema = Type.Object({
  id: Type.Integer(),
  user_id: Type.Integer(),
  device_id: Nullable(Type.String()),
  rom_id: Nullable(Type.Integer()),
  sync_session_id: Nullable(Type.Integer()),
  save_slot: Nullable(Type.String()),
  start_time: DateTime,
  end_time: DateTime,
  duration_ms: Type.Integer(),
  start: DateTime,
  end: DateTime,
  duration_seconds: Type.Integer(),
  created_at: DateTime,
  updated_at: DateTime
}, { title: 'PlaySession' })
export type PlaySessionView = Static<typeof PlaySessionSchema>

const UserFilter = Type.Optional(Type.Integer({ minimum: 1, maximum: ID_MAX, description: 'Id of another user; needs users.read' }))

export const ListPlaySessionsQuery = Type.Object({
  rom_id: Type.Optional(idOf('a ROM')),
  device_id: Type.Optional(DeviceReference),
  start_after: Type.Optional(UtcTime),
  end_before: Type.Optional(Type.String({ maxLength: 64, description: 'Latest start of a session' })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIMIT_MAX, description: 'At most 10000; the default is 50, or 10000 with a time filter' })),
  offset: Offset,
  user_id: UserFilter
})
export type ListPlaySessionsQuery = Static<typeof ListPlaySessionsQuery>

export const PlayTotalsQuery = Type.Object({
  rom_id: Type.Optional(idOf('a ROM')),
  limit: Limit,
  offset: Offset,
  user_id: UserFilter
})
export type PlayTotalsQuery = Static<typeof PlayTotalsQuery>

export const PlayTotalsSchema = Type.Object({
  rom_id: Type.Integer(), total_ms: Type.Integer(), sessions: Type.Integer(), last_played: DateTime
}, { title: 'PlayTotals' })
export type PlayTotalsView = Static<typeof PlayTotalsSchema>
