import { type Static, Type } from '@sinclair/typebox'
import { DateTime, idOf } from '../../core/typebox.ts'
import { DeviceIdSchema, DeviceReference } from '../devices/schemas.ts'

export const HeartbeatSchema = Type.Object({ rom_id: idOf('a ROM'), device_id: DeviceReference }, { title: 'ActivityHeartbeat' })
export type Heartbeat = Static<typeof HeartbeatSchema>

/** Without a device, it stops all entries of the socket. */
export const StopSchema = Type.Object({ rom_id: idOf('a ROM'), device_id: Type.Optional(DeviceReference) }, { title: 'ActivityStop' })
export type Stop = Static<typeof StopSchema>

/** An ended entry, with the API id of its device. */
export const ClearedSchema = Type.Object({
  user_id: Type.Integer(), device_id: DeviceIdSchema, rom_id: Type.Integer()
}, { title: 'ActivityCleared' })
export type Cleared = Static<typeof ClearedSchema>

export const ActivityEntrySchema = Type.Object({
  user_id: Type.Integer(),
  username: Type.String(),
  avatar_path: Type.String(),
  rom_id: Type.Integer(),
  rom_name: Type.String(),
  rom_cover_path: Type.String(),
  screenshot_path: Type.String({
    description: "Thumbnail of the player's newest save with a public one, else the title screen, else a screenshot"
  }),
  platform_slug: Type.String(),
  platform_name: Type.String(),
  device_id: DeviceIdSchema,
  device_type: Type.String(),
  started_at: DateTime
}, { title: 'ActivityEntry' })
export type ActivityEntryView = Static<typeof ActivityEntrySchema>
