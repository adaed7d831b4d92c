import { type Static, Type } from '@sinclair/typebox'
import { DateTime, ID_MAX, Id, Limit, Nullable, Offset, StoredText, StringEnum, idOf } from '../../core/typebox.ts'
import type { Device } from '../devices/entities.ts'
import { DeviceIdSchema, DeviceReference } from '../devices/schemas.ts'
import { PlaySessionEntrySchema, PlaySessionIngestResponseSchema } from '../play-sessions/schemas.ts'
import { SYNC_STATUSES, type SyncSession } from './entities.ts'

export const RESOLUTIONS = ['keep_both', 'server_wins', 'device_wins'] as const
export type Resolution = typeof RESOLUTIONS[number]

const Hash = Type.Optional(Nullable(Type.String({
  pattern: '^([0-9A-Fa-f]{40}|[0-9A-Fa-f]{32})?$', description: 'SHA-1 or MD5 in hexadecimal'
})))
const FileName = StoredText({ minLength: 1, maxLength: 450 })
const Time = Type.String({
  pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}',
  maxLength: 64,
  description: 'ISO 8601; UTC if it has no offset'
})
const Label = Type.Optional(Nullable(StoredText({ maxLength: 255 })))

const FileSchema = Type.Object({ file: FileName, mtime: Time, sha1: Hash }, { title: 'DeviceFile' })
/** Some apps send numbers as text. */
const NumberOrText = Type.Unsafe<number | string>({ type: ['integer', 'string'], minimum: 0, pattern: '^[0-9]{1,15}$' })
const SaveSchema = Type.Object({
  rom_id: Type.Unsafe<number | string>({
    type: ['integer', 'string'], minimum: 1, maximum: ID_MAX, pattern: '^[0-9]{1,9}$', description: 'Id of the ROM'
  }),
  file_name: FileName,
  slot: Label,
  emulator: Label,
  content_hash: Type.Optional(Nullable(Type.String({
    maxLength: 255, description: 'MD5 or SHA-1 in hexadecimal; anything else counts as none'
  }))),
  updated_at: Type.Unsafe<number | string>({
    ...Time, type: ['number', 'string'], minimum: 0, pattern: `${Time.pattern}|^[0-9]{1,15}(\\.[0-9]+)?$`,
    description: 'ISO 8601, UTC if it has no offset; or seconds or milliseconds since 1970'
  }),
  file_size_bytes: NumberOrText
}, { title: 'DeviceSave' })

/** One schema for both dialects, because a union is checked twice and gives less precise errors. */
export const NegotiateSchema = Type.Object({
  device_id: Type.Optional(Nullable(DeviceReference)),
  roms: Type.Optional(Type.Array(Type.Object({ rom_id: idOf('a ROM'), saves: Type.Array(FileSchema) }), {
    description: 'The ROMs on the device with their saves and states; the response lists operations by file'
  })),
  saves: Type.Optional(Type.Array(SaveSchema, {
    description: 'The saves on the device; the response lists operations by slot'
  })),
  rom_ids: Type.Optional(Nullable(Type.Array(Id, {
    maxItems: 500, description: 'With saves: limits downloads to these ROMs and those of the saves'
  }))),
  restore_unlisted: Type.Optional(Type.Boolean({ description: 'With saves: offers saves again that were deleted on the device' })),
  emulators: Type.Optional(Nullable(Type.Array(StoredText({ maxLength: 50 }), {
    maxItems: 500, description: 'With saves: pairs and offers only saves of these emulators'
  })))
}, {
  title: 'Negotiate',
  examples: [{
    device_id: 1,
    roms: [{
      rom_id: 7,
      saves: [{ file: 'Game.srm', mtime: '2026-01-01T10:00:00Z', sha1: 'da39a3ee5e6b4b0d3255bfef95601890afd80709' }]
    }]
  }]
})
export type NegotiateBody = Static<typeof NegotiateSchema>

const FileOperationSchema = Type.Object({
  type: StringEnum(['upload', 'download', 'conflict', 'noop']),
  rom_id: Type.Integer(),
  file: Type.String(),
  destination: Type.Optional(Type.String({ description: 'Path to POST the file to, as multipart' })),
  source: Type.Optional(Type.String({ description: 'Path to GET the file from' })),
  dest_path: Type.Optional(Type.String({ description: 'Target path on the device' })),
  resolution: Type.Optional(StringEnum(RESOLUTIONS))
}, { title: 'FileOperation' })
export type FileOperation = Static<typeof FileOperationSchema>
const ByFileSchema = Type.Object({
  session_id: Type.String({ format: 'uuid' }), operations: Type.Array(FileOperationSchema)
}, { title: 'FileNegotiation' })

const SlotOperationSchema = Type.Object({
  action: StringEnum(['upload', 'download', 'conflict', 'no_op', 'delete']),
  rom_id: Type.Integer(),
  save_id: Nullable(Type.Integer()),
  file_name: Type.String(),
  slot: Nullable(Type.String()),
  emulator: Nullable(Type.String()),
  reason: Type.String(),
  server_updated_at: Nullable(DateTime),
  server_content_hash: Nullable(Type.String())
}, { title: 'SlotOperation' })
export type SlotOperation = Static<typeof SlotOperationSchema>
const BySlotSchema = Type.Object({
  session_id: Type.Integer(),
  operations: Type.Array(SlotOperationSchema),
  total_upload: Type.Integer(),
  total_download: Type.Integer(),
  total_conflict: Type.Integer(),
  total_no_op: Type.Integer(),
  total_delete: Type.Optional(Type.Integer({ description: 'Only present if the request has a field of clients that support delete' }))
}, { title: 'SlotNegotiation' })

export const NegotiateResponseSchema = Type.Union([ByFileSchema, BySlotSchema], { title: 'NegotiateResponse' })
export type NegotiateResponse = Static<typeof NegotiateResponseSchema>

export const SessionParams = Type.Object({
  session_id: Type.String({ minLength: 1, maxLength: 36, description: 'Integer `id` or UUID `session_id`' })
})

const Count = Type.Integer({ minimum: 0, maximum: ID_MAX, default: 0 })
export const CompleteSchema = Type.Object({
  operations_completed: Count,
  operations_failed: Count,
  play_sessions: Type.Optional(Nullable(Type.Array(PlaySessionEntrySchema)))
}, { title: 'Complete' })
export type CompleteBody = Static<typeof CompleteSchema>

export const SyncSessionSchema = Type.Object({
  id: Type.Integer(),
  session_id: Type.String({ format: 'uuid' }),
  device_id: DeviceIdSchema,
  user_id: Type.Integer(),
  status: StringEnum(SYNC_STATUSES),
  initiated_at: DateTime,
  completed_at: Nullable(DateTime),
  operations_planned: Type.Integer(),
  operations_completed: Type.Integer(),
  operations_failed: Type.Integer(),
  error_message: Nullable(Type.String()),
  created_at: DateTime,
  updated_at: DateTime
}, { title: 'SyncSession' })

export const SyncCompleteSchema = Type.Object({
  session: SyncSessionSchema, play_session_ingest: Nullable(PlaySessionIngestResponseSchema)
}, { title: 'SyncComplete' })
export type SyncCompleteAnswer = Static<typeof SyncCompleteSchema>

export const ListSyncSessionsQuery = Type.Object({
  device_id: Type.Optional(DeviceReference),
  limit: Limit,
  offset: Offset
})
export type ListSyncSessionsQuery = Static<typeof ListSyncSessionsQuery>

/** A session without the fields that only its completion needs. */
export interface SessionSummary extends Pick<SyncSession, 'id' | 'session_id' | 'status' | 'operations_planned' |
  'operations_completed' | 'operations_failed' | 'error_message' | 'initiated_at' | 'completed_at' | 'created_at' | 'updated_at'> {
  device: Pick<Device, 'id' | 'device_id' | 'is_numbered'>
  user: { id: number }
}
