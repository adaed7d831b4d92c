import { type Static, Type } from '@sinclair/typebox'
import { DateTime } from '../../core/typebox.ts'

export const FirmwareSchema = Type.Object({
  id: Type.Integer(),
  file_name: Type.String(),
  file_name_no_tags: Type.String(),
  file_name_no_ext: Type.String(),
  file_extension: Type.String(),
  file_path: Type.String(),
  file_size_bytes: Type.Integer(),
  full_path: Type.String({ description: 'Relative to the library' }),
  is_verified: Type.Boolean(),
  crc_hash: Type.String(),
  md5_hash: Type.String(),
  sha1_hash: Type.String(),
  missing_from_fs: Type.Boolean(),
  created_at: DateTime,
  updated_at: DateTime
})
export type FirmwareView = Static<typeof FirmwareSchema>
