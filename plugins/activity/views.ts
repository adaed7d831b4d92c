import { formatDate } from '../../core/typebox.ts'
import type { Thumbnail } from '../assets/thumbnail-rows.ts'
import { downloadPathOf } from '../assets/views.ts'
import type { Rom } from '../roms/entities.ts'
import type { Addresses } from '../resources/addresses.ts'
import { stillOf } from '../roms/views.ts'
import type { ActivityEntryView } from './schemas.ts'

/** An entry with its user, device and ROM. Times are milliseconds since 1970. */
export interface ActivityRow extends Omit<ActivityEntryView, 'rom_cover_path' | 'screenshot_path' | 'device_type' | 'started_at'>,
  Pick<Rom, 'path_cover_small' | 'path_screenshots' | 'media'> {
  rom_updated_at: number
  started_at: number
  /** Client of the device. */
  client: string | null
  /** True if a socket started the entry. */
  by_socket: boolean
  thumbnail: Thumbnail | null
}

export function toActivityView (row: ActivityRow, addresses: Addresses): ActivityEntryView {
  const { thumbnail } = row
  const locate = (path: string | null | undefined) =>
    path === null || path === undefined || path === '' ? '' : addresses.locate(path, formatDate(row.rom_updated_at))
  return {
    user_id: row.user_id,
    username: row.username,
    avatar_path: row.avatar_path,
    rom_id: row.rom_id,
    rom_name: row.rom_name,
    rom_cover_path: locate(row.path_cover_small),
    screenshot_path: thumbnail === null ? locate(stillOf(row)) : downloadPathOf({ ...thumbnail, kind: 'screenshot' }),
    platform_slug: row.platform_slug,
    platform_name: row.platform_name,
    device_id: row.device_id,
    device_type: row.client ?? (row.by_socket ? 'web' : 'unknown'),
    started_at: formatDate(row.started_at)
  }
}
