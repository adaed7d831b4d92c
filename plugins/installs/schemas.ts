import { type Static, Type } from '@sinclair/typebox'
import { DateTime, Nullable, StoredText, StringEnum, idOf } from '../../core/typebox.ts'
import { DeviceIdSchema, DeviceReference } from '../devices/schemas.ts'
import { INSTALL_STATUSES } from './entities.ts'

export const InstallRequestSchema = Type.Object({
  id: Type.String({ description: 'UUID' }),
  user_id: Type.Integer(),
  device_id: DeviceIdSchema,
  rom_id: Type.Integer(),
  file_ids: Type.Array(Type.Integer(), { description: 'Files of the ROM to fetch: the game, its updates and its DLC' }),
  status: StringEnum(INSTALL_STATUSES),
  percent: Nullable(Type.Integer({ description: 'Progress of a running installation, from 0 to 100; null if the device reports none' })),
  reason: Nullable(Type.String({ description: 'Reason that the device gives for its result' })),
  created_at: DateTime,
  updated_at: DateTime
}, { title: 'InstallRequest' })
export type InstallRequestView = Static<typeof InstallRequestSchema>

export const CreateInstallSchema = Type.Object({ rom_id: idOf('a ROM') }, { title: 'CreateInstall' })

const REPORTED_STATUSES = ['done', 'already_installed', 'failed'] as const
export const ReportInstallSchema = Type.Object({
  status: StringEnum(REPORTED_STATUSES),
  reason: Type.Optional(Nullable(StoredText({ maxLength: 500 })))
}, { title: 'ReportInstall' })
export type ReportInstall = Static<typeof ReportInstallSchema>

export const InstallProgressSchema = Type.Object({ percent: Type.Integer({ minimum: 0, maximum: 100 }) }, { title: 'InstallProgress' })

export const InstallParams = Type.Object({ device_id: DeviceReference, request_id: Type.String({ format: 'uuid', description: 'Id of the request' }) })
