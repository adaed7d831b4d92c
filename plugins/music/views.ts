import { formatDate } from '../../core/typebox.ts'
import type { Addresses } from '../resources/addresses.ts'
import type { PlaylistRow } from './playlist-rows.ts'
import type { MusicPlaylistView, MusicTrackView } from './schemas.ts'
import type { TrackRow } from './track-rows.ts'

const isSet = (path: string | null): path is string => path !== null && path !== ''

export function toTrackView (row: TrackRow, addresses: Addresses): MusicTrackView {
  const { file_name: name, track_meta: { cover_path: embedded, ...tags }, path_cover_large: cover, ...fields } = row
  const path = embedded ?? cover
  return {
    ...fields,
    ...tags,
    stream_url: `/api/roms/${row.rom_file_id}/files/content/${encodeURIComponent(name.toWellFormed())}`,
    cover_url: isSet(path) ? addresses.locate(path) : null
  }
}

export const toPlaylistView = (row: PlaylistRow): MusicPlaylistView =>
  ({ ...row, created_at: formatDate(row.created_at), updated_at: formatDate(row.updated_at) })
