import { type InferEntity, defineEntity, p } from '@mikro-orm/core'
import { columns } from '../../core/database/columns.ts'
import { RomFile } from '../roms/entities.ts'
import { User } from '../users/entities.ts'

export const MusicPlaylist = defineEntity({
  name: 'MusicPlaylist',
  tableName: 'music_playlists',
  uniques: [{ properties: ['user', 'name'] }],
  properties: {
    id: columns.id(),
    user: () => p.manyToOne(User).deleteRule('cascade').joinColumn('user_id'),
    name: columns.text(),
    description: columns.text().nullable(),
    is_public: columns.flag(),
    created_at: columns.createdAt(),
    updated_at: columns.updatedAt()
  }
})
export type MusicPlaylist = InferEntity<typeof MusicPlaylist>

export const MusicPlaylistTrack = defineEntity({
  name: 'MusicPlaylistTrack',
  tableName: 'music_playlist_tracks',
  primaryKeys: ['playlist', 'file'],
  properties: {
    playlist: () => p.manyToOne(MusicPlaylist).primary().deleteRule('cascade').joinColumn('playlist_id'),
    file: () => p.manyToOne(RomFile).primary().deleteRule('cascade').joinColumn('file_id').index(),
    /** The position in the playlist; positions may have gaps. */
    position: p.integer()
  }
})

export const MusicFavorite = defineEntity({
  name: 'MusicFavorite',
  tableName: 'music_favorites',
  primaryKeys: ['user', 'file'],
  properties: {
    user: () => p.manyToOne(User).primary().deleteRule('cascade').joinColumn('user_id'),
    file: () => p.manyToOne(RomFile).primary().deleteRule('cascade').joinColumn('file_id').index()
  }
})
