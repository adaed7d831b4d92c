import {
  findCollection, insertImportedCollection, insertImportedMembers, insertImportedSmart
} from '../../collections/import-rows.ts'
import { hasPlaylist, insertImportedPlaylist } from '../../music/import-rows.ts'
import { insertEntries, insertFavorites } from '../../music/playlist-rows.ts'
import { findFilesOfRoms } from '../../roms/import-rows.ts'
import type { ImportRecord } from '../contract.ts'
import { selectImported } from '../rows.ts'
import { type Batch, type Stored, type Writer, noUser, oneByOne, toTimes } from './writer.ts'

/** Returns the members that are in the library here. */
async function findMembers ({ refs, services }: Batch, record: ImportRecord<'collection'>): Promise<number[]> {
  const found = await refs.find('rom', record.rom_ids)
  const missing = record.rom_ids.length - found.size
  if (missing > 0) services.warn(`Collection '${record.name}': ${missing} of ${record.rom_ids.length} ROMs are not in the library here`)
  return [...new Set(found.values())]
}

/** A collection of the same name, or the list of favourites, gets the imported members too. */
async function writeCollection (batch: Batch, record: ImportRecord<'collection'>): Promise<Stored> {
  const { tx, refs, services } = batch
  const user = (await refs.users([record]))(record)
  if (user === null) return noUser(record.user_id)
  const members = await findMembers(batch, record)
  const { name, is_favorite: isFavorite } = record
  const existing = await findCollection(tx, { user_id: user, name, is_favorite: isFavorite })
  if (existing !== null) {
    await insertImportedMembers(tx, existing, members)
    return { id: existing, as: 'present' }
  }
  const [keptId = null] = await services.keptIds.choose(tx, 'collections', [record.id])
  const id = await insertImportedCollection(tx, {
    id: keptId,
    user_id: user,
    name,
    description: record.description ?? '',
    is_public: record.is_public,
    is_favorite: isFavorite,
    url_cover: record.cover?.url ?? null,
    ...toTimes(record)
  })
  if (id === null) return { reason: 'another collection got this name at the same moment; import again' }
  await insertImportedMembers(tx, id, members)
  return { id, as: 'new' }
}

export const collectionWriter: Writer<'collection'> = {
  kind: 'collection',
  idOf: ({ id }) => id,
  nameOf: ({ name }) => name,
  write: oneByOne(writeCollection),

  /** Adds members whose files came into the library after the collection was imported. */
  async complete ({ tx, services }, known) {
    const completed: number[] = []
    for (const { record, id, at } of known) {
      const roms = await selectImported(tx, services.source, 'rom', record.rom_ids)
      const later = [...roms.values()].filter((rom) => rom.created_at > at).map((rom) => rom.new_id)
      if (later.length === 0) continue
      await insertImportedMembers(tx, id, later)
      completed.push(id)
    }
    return completed
  }
}

type Criteria = Record<string, unknown>

const toTexts = (value: unknown): string[] =>
  (Array.isArray(value) ? value : [value]).filter((one) => typeof one === 'string' || typeof one === 'number').map(String)

/** Replaces the ids of the source in a filter by those of this server. */
async function translateCriteria ({ refs, services }: Batch, { name, filter_criteria: criteria }: ImportRecord<'smart_collection'>): Promise<Criteria> {
  const translated: Criteria = { ...criteria }
  for (const [key, kind] of [['platform_ids', 'platform'], ['platform_id', 'platform'], ['collection_id', 'collection']] as const) {
    const given = criteria[key]
    if (given === undefined || given === null) continue
    const oldIds = toTexts(given)
    const found = await refs.find(kind, oldIds)
    if (found.size < oldIds.length) services.warn(`Smart collection '${name}': ${key} names a ${kind} that is not here`)
    const ids = oldIds.flatMap((id) => found.get(id) ?? [])
    // A filter by something that is not here finds nothing, and must not find everything.
    if (Array.isArray(given)) translated[key] = ids.length > 0 ? ids : [MISSING_ID]
    else translated[key] = ids[0] ?? MISSING_ID
  }
  return translated
}
/** No row has this id. */
const MISSING_ID = 2_147_483_647

async function writeSmart (batch: Batch, record: ImportRecord<'smart_collection'>): Promise<Stored> {
  const { tx, refs, services } = batch
  const user = (await refs.users([record]))(record)
  if (user === null) return noUser(record.user_id)
  const { name } = record
  const [keptId = null] = await services.keptIds.choose(tx, 'smart_collections', [record.id])
  const id = await insertImportedSmart(tx, {
    id: keptId,
    user_id: user,
    name,
    description: record.description ?? '',
    is_public: record.is_public,
    filter_criteria: await translateCriteria(batch, record),
    ...toTimes(record)
  })
  return id === null ? { reason: 'the user has a smart collection of this name here already, which stays' } : { id, as: 'new' }
}

export const smartCollectionWriter: Writer<'smart_collection'> = {
  kind: 'smart_collection', idOf: ({ id }) => id, nameOf: ({ name }) => name, write: oneByOne(writeSmart)
}

type Track = ImportRecord<'favorite_track'>['track']

/** Finds the files that tracks are; null for a track that is not here. */
async function findTracks ({ tx, refs }: Batch, tracks: readonly Track[]): Promise<(number | null)[]> {
  const roms = await refs.find('rom', tracks.map((track) => track.rom_id))
  return await findFilesOfRoms(tx, tracks.map(({ rom_id: rom, path }) => ({ rom_id: roms.get(rom) ?? 0, path })))
}

async function writePlaylist (batch: Batch, record: ImportRecord<'playlist'>): Promise<Stored> {
  const { tx, refs, services } = batch
  const user = (await refs.users([record]))(record)
  if (user === null) return noUser(record.user_id)
  const files = await findTracks(batch, record.tracks)
  const missing = files.filter((id) => id === null).length
  if (missing > 0) services.warn(`Playlist '${record.name}': ${missing} of ${files.length} tracks are not in the library here`)
  const { name, description, is_public: isPublic } = record
  const row = { user_id: user, name, description, is_public: isPublic, ...toTimes(record) }
  const id = await insertImportedPlaylist(tx, row)
  if (id === null) return { reason: 'the user has a playlist of this name here already, which stays' }
  await insertEntries(tx, id, [...new Set(files.filter((file) => file !== null))])
  return { id, as: 'new' }
}

export const playlistWriter: Writer<'playlist'> = {
  kind: 'playlist',
  idOf: ({ id }) => id,
  nameOf: ({ name }) => name,
  write: oneByOne(writePlaylist),

  /** Adds tracks whose ROMs came into the library after the playlist was imported. */
  async complete (batch, known) {
    const { tx, services } = batch
    const completed: number[] = []
    for (const { record, id, at } of known) {
      const roms = await selectImported(tx, services.source, 'rom', record.tracks.map((track) => track.rom_id))
      const isLater = (track: Track) => (roms.get(track.rom_id)?.created_at ?? at) > at
      const files = await findTracks(batch, record.tracks.filter(isLater))
      const found = files.filter((file) => file !== null)
      if (found.length === 0 || !await hasPlaylist(tx, id)) continue
      await insertEntries(tx, id, [...new Set(found)])
      completed.push(id)
    }
    return completed
  }
}

async function writeFavorite (batch: Batch, record: ImportRecord<'favorite_track'>): Promise<Stored> {
  const user = (await batch.refs.users([record]))(record)
  if (user === null) return noUser(record.user_id)
  const [file = null] = await findTracks(batch, [record.track])
  if (file === null) return { reason: `the track '${record.track.path}' is not in the library here` }
  const added = await insertFavorites(batch.tx, user, [file])
  return { id: file, as: added > 0 ? 'new' : 'present' }
}

export const favoriteTrackWriter: Writer<'favorite_track'> = {
  kind: 'favorite_track',
  idOf: ({ user_id: user, track: { rom_id: rom, path } }) => `${user ?? ''}/${rom}/${path}`,
  nameOf: ({ track }) => track.path,
  write: oneByOne(writeFavorite)
}
