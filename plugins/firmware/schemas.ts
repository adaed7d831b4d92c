import { type Static, Type } from '@sinclair/typebox'
import { Bytes, DateTime, ID_MAX, LIMIT_MAX } from '../../core/typebox.ts'

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
}, { title: 'Firmware' })
export type FirmwareView = Static<typeof FirmwareSchema>

/** More files than any platform has. Files are staged on disk, so their number costs no memory. */
export const FILES_MAX = 250
export const FirmwareForm = Type.Object({ files: Type.Array(Bytes, { minItems: 1, maxItems: FILES_MAX }) }, { title: 'FirmwareForm' })
export const FirmwareUploadSchema = Type.Object({
  uploaded: Type.Integer({ description: 'The number of parts of the form, including those without a name' }),
  firmware: Type.Array(FirmwareSchema, { description: 'All firmware of the platform' })
}, { title: 'FirmwareUpload' })
export type FirmwareUploadView = Static<typeof FirmwareUploadSchema>

/** Returns the schema of an id, of any number that a row may have. */
const anyIdOf = (what: string) => Type.Integer({ minimum: -ID_MAX, maximum: ID_MAX, description: `Id of ${what}` })
export const FirmwareParams = Type.Object({ id: anyIdOf('a file') })
export const FirmwareContentParams = Type.Object({
  id: anyIdOf('a file'), file_name: Type.String({ description: 'Any name, for emulators that use the end of an address' })
})
export const PlatformQuery = Type.Object({ platform_id: anyIdOf('a platform') })
export const ListFirmwareQuery = Type.Partial(PlatformQuery)

const Ids = Type.Array(anyIdOf('a file'), { maxItems: LIMIT_MAX })
export const DeleteFirmwareSchema = Type.Object({
  firmware: Ids,
  delete_from_fs: Type.Optional({ ...Ids, description: 'Ids of `firmware` whose file is deleted too' })
}, { title: 'DeleteFirmware' })
export type DeleteFirmware = Static<typeof DeleteFirmwareSchema>

export const BulkResultSchema = Type.Object({
  successful_items: Type.Integer(),
  failed_ids: Type.Array(Type.Integer()),
  errors: Type.Array(Type.String(), { description: 'The reason of each failure' })
}, { title: 'BulkResult' })
export type BulkResult = Static<typeof BulkResultSchema>
