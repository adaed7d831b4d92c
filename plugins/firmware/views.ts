import { formatDate } from '../../core/typebox.ts'
import { parseName } from '../library/names.ts'
import type { FirmwareView } from './schemas.ts'

/** A row of firmware; times are milliseconds since 1970. */
export interface FirmwareRow {
  id: number
  library_id: number
  platform_id: number
  file_name: string
  file_path: string
  file_size_bytes: number
  crc_hash: string
  md5_hash: string
  sha1_hash: string
  is_verified: boolean
  missing_from_fs: boolean
  created_at: number
  updated_at: number
}

export function toFirmwareView (row: FirmwareRow): FirmwareView {
  const parsed = parseName(row.file_name)
  const { library_id: _library, platform_id: _platform, ...fields } = row
  return {
    ...fields,
    file_name_no_tags: parsed.fs_name_no_tags,
    file_name_no_ext: parsed.fs_name_no_ext,
    file_extension: parsed.fs_extension,
    full_path: `${row.file_path}/${row.file_name}`,
    created_at: formatDate(row.created_at),
    updated_at: formatDate(row.updated_at)
  }
}
