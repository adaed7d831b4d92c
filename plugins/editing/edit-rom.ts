import type { FastifyInstance } from 'fastify'
import type { Config } from '../../core/config/config.ts'
import { explainDatabaseError } from '../../core/database/errors.ts'
import { ApiError } from '../../core/errors.ts'
import type { CallScope } from '../../core/loader/calls/call-scope.ts'
import { createMemo } from '../../core/loader/calls/memo.ts'
import { countEdit } from '../library-versions/version-rows.ts'
import { renameRom, toFileName } from '../renames/rename-rom.ts'
import { isIdentified } from '../matching/matches.ts'
import { readPriorities } from '../matching/merge-matches.ts'
import { type RomForLookup, loadRomForLookup } from '../matching/rom-for-lookup.ts'
import type { MatchWrite } from '../matching/match-rows.ts'
import type { EditResult, EditCall, UnmatchCall } from './edit-call.ts'
import { type EditedMatches, explainChoices, readEditedMatches } from './edited-matches.ts'
import { announceRoms } from './events.ts'
import { createRecordCheck } from './check-record.ts'
import { createGames } from './games.ts'
import { createPictures } from './pictures.ts'
import { applyEdit } from './apply-edit.ts'
import { type DownloadedPictures, downloadPictures } from './download-pictures.ts'
import { storeEdit } from './store-edit.ts'
import { unmatchRom } from './unmatch-rom.ts'
import { romNotFound } from '../roms/rom-not-found.ts'

/** A step after the edit of a ROM, before clients hear of the edit. */
export type AfterEdit = (romId: number) => Promise<void>

/** The services with which a ROM is edited. */
interface EditServices { app: FastifyInstance, config: Config, games: ReturnType<typeof createGames> }

/**
 * Renames the file of a ROM.
 *
 * @returns the ROM under its new name, or unchanged
 */
async function rename ({ app, config }: EditServices, rom: RomForLookup, given: string): Promise<RomForLookup> {
  const { id, fs_name: before, fs_path: folder, is_folder: isFolder } = rom.rom
  if (given.trim() === '') return rom
  const name = toFileName(given, isFolder, app.library.rules)
  if (name === before) return rom
  await renameRom(app, {
    rom_id: id, library_id: rom.rom.library_id, platform_id: rom.platform.id, fs_path: folder, old_name: before,
    new_name: name, is_folder: isFolder
  })
  const renamed = await loadRomForLookup(app, config, id)
  if (renamed === null) throw romNotFound(id)
  return renamed
}

/** The matches of an edit, and the pictures that were downloaded for it. */
interface EditContent { edited: EditedMatches, downloaded: DownloadedPictures }

function toWrite (
  { app, config }: EditServices, rom: RomForLookup, call: EditCall, { edited, downloaded }: EditContent
): MatchWrite {
  const { providers } = app.registry
  const { matches, newMatches, dropped } = edited
  const { merged, ...edit } = applyEdit(rom.rom, edited, call, readPriorities(config, providers))
  return {
    rom_id: rom.rom.id,
    edits: rom.rom.edits,
    matches: newMatches,
    explanations: explainChoices(rom, edited),
    dropped,
    merged: { ...merged, is_identified: isIdentified(matches, providers) },
    edit: { ...edit, ...downloaded }
  }
}

async function edit (services: EditServices, rom: RomForLookup, call: EditCall, scope: CallScope): Promise<void> {
  const { app, config, games } = services
  const check = createRecordCheck(app.roms.providers)
  const edited = await readEditedMatches(rom, call, (key, id) => games.read(key, id, rom, scope), check)
  const pictures = createPictures(app, config, { rom, matches: edited.matches, scope })
  try {
    const downloaded = await downloadPictures(call, rom.rom, pictures)
    const renamed = await rename(services, rom, call.fs_name)
    await storeEdit(app.db, toWrite(services, renamed, call, { edited, downloaded }))
    const current = await loadRomForLookup(app, config, rom.rom.id)
    if (current === null) return
    await pictures.deleteUnusedCovers([current.rom.path_cover_large, current.rom.path_cover_small])
    await pictures.fetchRest(current.rom)
  } finally {
    await pictures.close()
  }
  if (edited.ids.some((key) => edited.newMatches.has(key))) await games.suggest(rom, edited.matches, scope)
}

/**
 * Creates the function that edits a ROM. It runs in the scan worker, because it reads and writes the same data as scans
 * and runs code of providers.
 */
export function createEditor (app: FastifyInstance, config: Config, after: readonly AfterEdit[]) {
  const services = { app, config, games: createGames(app) }

  async function run (call: EditCall | UnmatchCall, signal: AbortSignal): Promise<void> {
    const rom = await loadRomForLookup(app, config, call.rom_id)
    if (rom === null) throw romNotFound(call.rom_id)
    const scope = { signal, memo: createMemo(), preferences: rom.preferences, files: rom.libraryFiles }
    try {
      await (call.kind === 'unmatch' ? unmatchRom(app, config, rom, scope) : edit(services, rom, call, scope))
      for (const step of after) await step(call.rom_id)
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
      const { code, statusCode: status, message, violations } = refusal
      return { refusal: { code, status, message, violations } }
    }
  }
}
