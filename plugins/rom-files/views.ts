import type { Addresses } from '../resources/addresses.ts'
import type { FoundFile } from './rows.ts'
import type { SoundtrackTrack } from './schemas.ts'

export function toTrackView (row: FoundFile, addresses: Addresses): SoundtrackTrack {
  const { id, file_name: name, file_size_bytes: size, track_meta: meta } = row
  const cover = meta?.cover_path ?? null
  return {
    file_id: id,
    file_name: name,
    file_size_bytes: size,
    track_meta: meta && { ...meta, cover_path: cover === null ? null : addresses.toPath(cover) }
  }
}
