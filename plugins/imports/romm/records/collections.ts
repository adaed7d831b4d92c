import type { ImportRecord, Media } from '../../contract.ts'
import { fileIn } from '../files.ts'
import { readValues } from '../values.ts'
import { pathInRom } from './library.ts'
import { groupBy, need, readBatches, readRecords, type RommSource, TIMES, timesOf } from './source.ts'

const COLLECTION_COLUMNS = ['id', 'user_id', 'name', 'description', 'is_public', 'is_favorite', 'url_cover', 'path_cover_l',
  'path_cover_s', ...TIMES] as const
const MEMBER_COLUMNS = ['collection_id', 'rom_id'] as const
const SMART_COLUMNS = ['id', 'user_id', 'name', 'description', 'is_public', 'filter_criteria', ...TIMES] as const
const PLAYLIST_COLUMNS = ['id', 'user_id', 'name', 'description', 'is_public', ...TIMES] as const
const TRACK_COLUMNS = ['playlist_id', 'rom_file_id', 'position'] as const
const FAVORITE_COLUMNS = ['user_id', 'rom_file_id'] as const

/** The name that marked the favourites of a user before RomM 4.4, in any case. */
const FAVORITES = /^favou?rites$/i

export async function * listCollections (source: RommSource): AsyncGenerator<ImportRecord<'collection'>> {
  const hasFavorites = source.tables.hasColumn('collections', 'is_favorite')
  const table = { kind: 'collection', table: 'collections', columns: COLLECTION_COLUMNS } as const
  yield * readBatches(source, table, async (collections) => {
    const ids = collections.map((collection) => collection.text('id') ?? '')
    const members = groupBy(
      await source.tables.readWhere('collections_roms', MEMBER_COLUMNS, 'collection_id', ids), 'collection_id')
    return collections.map((row, index) => () => {
      const name = need(row.text('name'), 'name')
      return {
        id: need(row.text('id'), 'id'),
        user_id: need(row.text('user_id'), 'user_id'),
        name,
        description: row.text('description'),
        is_public: row.flag('is_public'),
        is_favorite: hasFavorites ? row.flag('is_favorite') : FAVORITES.test(name),
        cover: coverOf(row.text('path_cover_l') ?? row.text('path_cover_s'), row.text('url_cover')),
        rom_ids: (members.get(ids[index] ?? '') ?? []).map((member) => member.rom_id).filter((id) => id !== null).sort(byNumber),
        ...timesOf(row)
      }
    })
  })
}

export async function * listSmartCollections (source: RommSource): AsyncGenerator<ImportRecord<'smart_collection'>> {
  yield * readRecords(source, { kind: 'smart_collection', table: 'smart_collections', columns: SMART_COLUMNS }, (row) => ({
    id: need(row.text('id'), 'id'),
    user_id: need(row.text('user_id'), 'user_id'),
    name: need(row.text('name'), 'name'),
    description: row.text('description'),
    is_public: row.flag('is_public'),
    filter_criteria: need(row.object('filter_criteria'), 'filter_criteria'),
    ...timesOf(row)
  }))
}

export async function * listPlaylists (source: RommSource): AsyncGenerator<ImportRecord<'playlist'>> {
  yield * readBatches(source, { kind: 'playlist', table: 'music_playlists', columns: PLAYLIST_COLUMNS }, async (playlists) => {
    const ids = playlists.map((playlist) => playlist.text('id') ?? '')
    const rows = await source.tables.readWhere('music_playlist_tracks', TRACK_COLUMNS, 'playlist_id', ids)
    const tracks = await findTracks(source, rows.map((row) => row.rom_file_id))
    const members = groupBy(rows.sort((a, b) => Number(a.position) - Number(b.position)), 'playlist_id')
    return playlists.map((row, index) => () => ({
      id: need(row.text('id'), 'id'),
      user_id: need(row.text('user_id'), 'user_id'),
      name: need(row.text('name'), 'name'),
      description: row.text('description'),
      is_public: row.flag('is_public'),
      tracks: (members.get(ids[index] ?? '') ?? [])
        .map((member) => tracks.get(member.rom_file_id ?? '')).filter((track) => track !== undefined),
      ...timesOf(row)
    }))
  })
}

export async function * listFavoriteTracks (source: RommSource): AsyncGenerator<ImportRecord<'favorite_track'>> {
  const table = {
    kind: 'favorite_track', table: 'music_favorite_tracks', columns: FAVORITE_COLUMNS, key: ['user_id', 'rom_file_id']
  } as const
  yield * readBatches(source, table, async (favorites) => {
    const tracks = await findTracks(source, favorites.map((favorite) => favorite.text('rom_file_id')))
    return favorites.map((row) => () => ({
      user_id: need(row.text('user_id'), 'user_id'),
      track: need(tracks.get(row.text('rom_file_id') ?? '') ?? null, 'file')
    }))
  })
}

/** Finds the ROM and the path of files, by their ids. */
async function findTracks (source: RommSource, fileIds: readonly (string | null)[]) {
  const { tables } = source
  const ids = [...new Set(fileIds)].filter((id) => id !== null)
  const files = await tables.readWhere('rom_files', ['id', 'rom_id', 'file_name', 'file_path'], 'id', ids)
  const romIds = [...new Set(files.map((file) => file.rom_id))].filter((id) => id !== null)
  const roms = groupBy(await tables.readWhere('roms', ['id', 'fs_name', 'fs_path'], 'id', romIds), 'id')
  const found = new Map<string, { rom_id: string, path: string }>()
  for (const file of files) {
    const [rom] = roms.get(file.rom_id ?? '') ?? []
    if (rom === undefined || file.id === null || file.rom_id === null || file.file_name === null) continue
    const path = pathInRom(file.file_path, file.file_name, readValues(rom, (column) => { source.noteOdd('roms', column, rom.id ?? '') }))
    found.set(file.id, { rom_id: file.rom_id, path })
  }
  return found
}

function coverOf (path: string | null, url: string | null): Media | null {
  const file = fileIn('resources', path)
  return file === null ? null : { file, url }
}

function byNumber (a: string, b: string): number {
  return Number(a) - Number(b)
}
