import { type Static, Type } from '@sinclair/typebox'
import { DateTime, Id, Nullable, StoredText, StringEnum, formatDate } from '../../core/typebox.ts'
import { DeviceIdSchema, DeviceReference } from '../devices/schemas.ts'
import { INSTALL_STATUSES } from './entities.ts'

export const InstallRequestSchema = Type.Object({
  id: Type.String({ description: 'UUID' }),
  user_id: Type.Integer(),
  device_id: DeviceIdSchema,
  rom_id: Type.Integer(),
  file_ids: Type.Array(Type.Integer(), { description: 'Files of the ROM to fetch: the game, its updates and its DLC' }),
  status: StringEnum(INSTALL_STATUSES),
  reason: Nullable(Type.String({ description: 'What the device says of how it ended' })),
  created_at: DateTime,
  updated_at: DateTime
})
export type InstallRequestView = Static<typeof InstallRequestSchema>

/** A row with its device's UUID, as every statement here answers. Times are milliseconds since 1970. */
export interface InstallRow extends Omit<InstallRequestView, 'device_id' | 'created_at' | 'updated_at'> {
  device_id: number
  device_uuid: string
  is_numbered: boolean
  created_at: number
  updated_at: number
}

export function toInstallView (row: InstallRow): InstallRequestView {
  const { device_uuid: uuid, is_numbered: isNumbered, created_at: created, updated_at: updated, ...same } = row
  return {
    ...same,
    device_id: isNumbered ? row.device_id : uuid,
    created_at: formatDate(created),
    updated_at: formatDate(updated)
  }
}

export const CreateInstallSchema = Type.Object({ rom_id: Id })

export const REPORTED_STATUSES = ['done', 'already_installed', 'failed'] as const
export const ReportInstallSchema = Type.Object({
  status: StringEnum(REPORTED_STATUSES),
  reason: Type.Optional(Nullable(StoredText({ maxLength: 500 })))
})
export type ReportInstall = Static<typeof ReportInstallSchema>

export const InstallParams = Type.Object({ device_id: DeviceReference, request_id: Type.String({ format: 'uuid' }) })
