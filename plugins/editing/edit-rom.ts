import { isDeepStrictEqual } from 'node:util'
import type { Match, ProviderId } from '@svc/plugin-sdk'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../../core/config/config.ts'
import { explainDatabaseError } from '../../core/database/errors.ts'
import { ApiError, badRequest, conflict, notFound } from '../../core/errors.ts'
import type { CallScope } from '../../core/loader/call-scope.ts'
import { createMemo } from '../../core/loader/memo.ts'
import { nameSortKey } from '../library/names.ts'
import { countEdit } from '../library/version-rows.ts'
import { renameRom, toFileName } from '../roms/rename-rom.ts'
import { type ProviderMatch, type ProviderMatches, idOf, isIdentified } from '../matching/matches.ts'
import { type MatchExplanation, explainChoice } from '../matching/match-explanation.ts'
import { toMergeBase } from '../matching/merge-base.ts'
import { mergeMatches, readPriorities } from '../matching/merge-matches.ts'
import { type RomForLookup, loadRomForLookup } from '../matching/rom-for-lookup.ts'
import { type MatchWrite, createMatchStore } from '../matching/match-rows.ts'
import type { EditResult, EditCall, UnmatchCall } from './edit-call.ts'
import { announceRoms } from './events.ts'
import { createGames } from './games.ts'
import { type CoverPaths, type Pictures, createPictures } from './pictures.ts'
import { readRecordFields } from './record-fields.ts'
import { applyEdit } from './apply-edit.ts'

/** Unmatching keeps this provider, because its id comes from a file beside the ROM and identifies no game elsewhere. */
const UNMATCH_KEEPS = 'gamelist'
const NO_COVER: CoverPaths = { large: null, small: null }

/** What providers say after a call: all of it, what is new, whose word is dropped, and what a person decided. */
interface EditedMatches {
  matches: ProviderMatches
  newMatches: Map<string, ProviderMatch>
  dropped: string[]
  ids: string[]
  records: string[]
}
interface DownloadedPictures { cover?: CoverPaths, path_manual?: string | null }

const romNotFound = (id: number) => notFound(`ROM with ID '${id}' not found`)

/** Returns a record as its provider gave it, because views add the paths of stored files. */
const withoutPaths = (record: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(record).filter(([name]) => !name.endsWith('_path')))

/** True if an address must be downloaded: it is new, or nothing of it is stored. */
function mustDownload (
  url: string | undefined, stored: string | null | undefined, path: string | null | undefined
): url is string {
  const address = url?.trim() ?? ''
  return address !== '' && (address !== stored || path === null || path === undefined)
}

/** Explains the matches whose id a person chose. A record that a person wrote changes no id. */
function explainChoices (
  { rom, platform }: RomForLookup, { newMatches: found, ids }: EditedMatches
): Map<string, MatchExplanation> {
  const subject = { name: rom.fs_name_no_tags, platform: platform.slug, at: new Date() }
  return new Map(ids.flatMap((key) => {
    const match = found.get(key)
    const id = match === undefined ? null : idOf(match)
    return id === null ? [] : [[key, explainChoice(subject, id)] as const]
  }))
}

async function publishUpload (path: string, pictures: Pictures): Promise<CoverPaths> {
  try {
    return await pictures.publishCover(path)
  } catch (err) {
    if (err instanceof ApiError || !(err instanceof Error)) throw err
    throw badRequest(`The artwork cannot be used: ${err.message}; send another picture`)
  }
}

/**
 * Creates the function that edits a ROM. It runs in the scan worker, because it reads and writes the same data as scans
 * and runs code of providers.
 */
export function createEditor (app: FastifyInstance, config: Config) {
  const { providers } = app.registry
  const store = createMatchStore(app.db)
  const games = createGames(app)
  const renameServices = { db: app.db, library: app.library, workers: app.workers }

  const storedIdOf = ({ stored }: RomForLookup, key: string): ProviderId | null => {
    const found = stored.get(key)
    return found === undefined ? null : idOf(found)
  }

  async function readGames (rom: RomForLookup, ids: EditCall['ids'], scope: CallScope) {
    const changed = Object.entries(ids).filter(([key, id]) => String(id ?? '') !== String(storedIdOf(rom, key) ?? ''))
    const chosen = changed.flatMap(([key, id]) => id === null ? [] : [[key, id] as const])
    const found = await Promise.all(chosen.map(async ([key, id]) =>
      [key, await games.read(key, id, rom, scope)] as const))
    const dropped = changed.flatMap(([key, id]) => id === null ? [key] : [])
    return { changed: changed.map(([key]) => key), found: new Map<string, ProviderMatch>(found), dropped }
  }

  /**
   * Replaces the records of matches. A record applies if its provider has an id and did not just return a record
   * itself.
   */
  function applyRecords (all: Map<string, ProviderMatch>, newMatches: Map<string, ProviderMatch>, records: EditCall['records']): string[] {
    return Object.entries(records).flatMap(([key, record]) => {
      const before = all.get(key)
      if (before === undefined || idOf(before) === null || !('id' in before)) return []
      const { metadata } = before as Match
      if (newMatches.has(key) && metadata !== undefined) return []
      if (isDeepStrictEqual(withoutPaths(metadata ?? {}), withoutPaths(record))) return []
      const found: Match = { ...before, ...readRecordFields(record), metadata: withoutPaths(record) }
      all.set(key, found)
      newMatches.set(key, found)
      return [key]
    })
  }

  async function readMatches (rom: RomForLookup, call: EditCall, scope: CallScope): Promise<EditedMatches> {
    const { changed, found, dropped } = await readGames(rom, call.ids, scope)
    const all = new Map([...rom.stored, ...found])
    for (const key of dropped) all.delete(key)
    const records = applyRecords(all, found, call.records)
    return { matches: all, newMatches: found, dropped, ids: changed, records }
  }

  async function downloadPictures (
    call: EditCall, { rom }: RomForLookup, pictures: Pictures
  ): Promise<DownloadedPictures> {
    const downloaded: DownloadedPictures = {}
    const { url_cover: cover, url_manual: manual } = call.texts
    if (call.cover === null) downloaded.cover = NO_COVER
    else if (call.cover !== undefined) downloaded.cover = await publishUpload(call.cover, pictures)
    else if (mustDownload(cover, rom.url_cover, rom.path_cover_large)) {
      downloaded.cover = await pictures.downloadCover(cover.trim()) ?? NO_COVER
    }
    if (mustDownload(manual, rom.url_manual, call.refetches_manual === true ? null : rom.path_manual)) {
      downloaded.path_manual = await pictures.downloadManual(manual.trim())
      if (downloaded.path_manual === null && call.refetches_manual === true) {
        throw badRequest('The manual cannot be fetched now; try again later')
      }
    }
    return downloaded
  }

  /**
   * Renames the file of a ROM.
   *
   * @returns the ROM under its new name, or unchanged
   */
  async function rename (rom: RomForLookup, given: string): Promise<RomForLookup> {
    const { id, fs_name: before, fs_path: folder, is_folder: isFolder } = rom.rom
    if (given.trim() === '') return rom
    const name = toFileName(given, isFolder, app.library.rules)
    if (name === before) return rom
    await renameRom(renameServices, {
      rom_id: id, library_id: rom.rom.library_id, platform_id: rom.platform.id, fs_path: folder, old_name: before,
      new_name: name, is_folder: isFolder
    })
    const renamed = await loadRomForLookup(app, config, id)
    if (renamed === null) throw romNotFound(id)
    return renamed
  }

  async function storeMatches (change: MatchWrite): Promise<void> {
    const written = await store.writeMatches([change])
    if (written.length === 0) throw conflict('Another request changed this ROM at the same moment; fetch the current state and try again')
  }

  async function storeEdit (
    rom: RomForLookup, call: EditCall, edited: EditedMatches, downloaded: DownloadedPictures
  ): Promise<void> {
    const result = applyEdit(rom.rom, edited.matches, call, edited, readPriorities(config, providers))
    const { merged, ...edit } = result
    await storeMatches({
      rom_id: rom.rom.id,
      edits: rom.rom.edits,
      matches: edited.newMatches,
      explanations: explainChoices(rom, edited),
      dropped: edited.dropped,
      merged: { ...merged, is_identified: isIdentified(edited.matches, providers) },
      edit: { ...edit, ...downloaded }
    })
  }

  async function edit (rom: RomForLookup, call: EditCall, scope: CallScope): Promise<void> {
    const edited = await readMatches(rom, call, scope)
    const pictures = createPictures(app, config, rom, edited.matches, scope)
    try {
      const downloaded = await downloadPictures(call, rom, pictures)
      await storeEdit(await rename(rom, call.fs_name), call, edited, downloaded)
      const current = await loadRomForLookup(app, config, rom.rom.id)
      if (current === null) return
      await pictures.deleteUnusedCovers([current.rom.path_cover_large, current.rom.path_cover_small])
      await pictures.fetchRest(current.rom)
    } finally {
      await pictures.close()
    }
    if (edited.ids.some((key) => edited.newMatches.has(key))) await games.suggest(rom, edited.matches, scope)
  }

  /** Removes all matches of a ROM. `manual_metadata` and an existing manual stay. */
  async function unmatch (rom: RomForLookup, scope: CallScope): Promise<void> {
    const id = storedIdOf(rom, UNMATCH_KEEPS)
    const remaining: ProviderMatches = id === null ? new Map() : new Map([[UNMATCH_KEEPS, { id }]])
    const { fs_name: name, path_manual: manual, manual_metadata: ownMetadata, edits } = rom.rom
    const ownFields = rom.rom.own_fields.filter((field) => field === 'url_manual')
    const base = toMergeBase({ ...rom.rom, own_fields: ownFields }, true)
    const merged = mergeMatches(remaining, base, readPriorities(config, new Map()))
    await storeMatches({
      rom_id: rom.rom.id,
      edits,
      matches: remaining,
      explanations: new Map(),
      dropped: [...rom.stored.keys()].filter((key) => !remaining.has(key)),
      merged: { ...merged, name, name_sort_key: nameSortKey(name), is_identified: isIdentified(remaining, providers) },
      edit: {
        own_fields: ownFields, manual_metadata: ownMetadata ?? null, cover: NO_COVER, path_manual: manual ?? null
      }
    })
    const pictures = createPictures(app, config, rom, remaining, scope)
    await pictures.deleteAll(manual ?? null).finally(pictures.close)
  }

  async function run (call: EditCall | UnmatchCall, signal: AbortSignal): Promise<void> {
    const rom = await loadRomForLookup(app, config, call.rom_id)
    if (rom === null) throw romNotFound(call.rom_id)
    const scope = { signal, memo: createMemo(), preferences: rom.preferences, files: rom.libraryFiles }
    try {
      await (call.kind === 'unmatch' ? unmatch(rom, scope) : edit(rom, call, scope))
    } finally {
      // Count this as an edit by a person, because it must be visible at once, unlike writes of a scan.
      await countEdit(app.db)
    }
    await announceRoms(app, config, [call.rom_id])
  }

  return async (call: EditCall | UnmatchCall, signal: AbortSignal): Promise<EditResult> => {
    try {
      await run(call, signal)
      return { refusal: null }
    } catch (err) {
      const refusal = err instanceof ApiError ? err : explainDatabaseError(err)
      if (refusal === null) throw err
      return { refusal: { code: refusal.code, status: refusal.statusCode, message: refusal.message } }
    }
  }
}
