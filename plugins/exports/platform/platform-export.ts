import { dirname, join } from 'node:path'
import type { Cache, ExportGame, ExportPlatform, ExportResult, ExporterDefinition, MediaKind } from '@svc/plugin-sdk'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { Config } from '../../../core/config/config.ts'
import type { Db } from '../../../core/database/db.ts'
import { ApiError } from '../../../core/errors.ts'
import { realLibraryDirectory, reasonOf } from '../../library/directory.ts'
import { errorCode } from '../../../core/files/fs-error.ts'
import { isInside, safeName, safeRelativePath } from '../../../core/files/safe-path.ts'
import type { Store } from '../../../core/store/store.ts'
import { describeReadOnly } from '../../library/read-only.ts'
import type { LibraryRoot } from '../../library/roots.ts'
import { type Structure, platformRoot, romsPath } from '../../library/structure.ts'
import { readPreferences } from '../../../core/loader/context.ts'
import { TimeLimitError, limitTime } from '../../../core/concurrency/limit-time.ts'
import { createMemo } from '../../../core/loader/calls/memo.ts'
import type { Loaded } from '../../../core/loader/registry.ts'
import { exportFailed } from '../errors.ts'
import { describeWriteError, toReason } from '../files/fs-reason.ts'
import { type GameDraft, readGames } from '../games.ts'
import { type MediaFolders, type MediaWriter, type MediumFile, createMediaWriter } from '../media/media.ts'
import { loadMediaRecords } from '../media/media-records.ts'
import { type ExportOutcome, type MediaError, type SkippedRom, SkippedRomSchema } from '../schemas.ts'
import { type TextFile, readTextFile, replaceTextFile } from '../text-file.ts'
import { loadPathRecords } from './path-records.ts'

export type LoadedExporter = Loaded<ExporterDefinition>
export interface PlatformRow extends ExportPlatform { id: number }

/** The export of one platform in one library. */
export interface PlatformExport {
  platform: PlatformRow
  root: LibraryRoot
  structure: Structure
  config: Config
  store: Store
  db: Db
  /** The cache that records which media the server wrote. */
  cache: Cache
  /** Keys of exporters that exceeded their time limit in this export. They are not called again. */
  hanging: Set<string>
  /** The time limit of an exporter; default two minutes. */
  renderTimeoutMs?: number | undefined
  signal: AbortSignal
}

/** The input that all exporters of a platform share. */
interface Library {
  root: string
  games: { draft: GameDraft, mediaFiles: ReadonlyMap<string, MediumFile>, files: readonly string[] }[]
  skipped: SkippedRom[]
  media_errors: readonly MediaError[]
}

const RENDER_TIMEOUT_MS = 120_000
const GAMES_AT_ONCE = 16
const ExportResultSchema = Type.Object({ text: Type.String(), skipped: Type.Array(SkippedRomSchema) })

/** Returns the reason why the host cannot write an exporter's files; null if it can. */
export function findObstacle ({ definition }: LoadedExporter): string | null {
  try {
    safeName(definition.fileName)
    mediaOf(definition)
    return null
  } catch (err) {
    return toReason(err)
  }
}

/**
 * Lists the media folders with their kinds. The kinds of a folder come from all exporters, because the folder must hold
 * the same media whichever exporter runs.
 */
export function listMediaFolders (chosen: readonly LoadedExporter[], all: Iterable<LoadedExporter>): MediaFolders {
  const names = new Set(chosen.flatMap(({ definition }) => mediaOf(definition).map(([, folder]) => folder)))
  const folders = new Map<string, MediaKind[]>()
  for (const { definition } of [...chosen, ...all]) {
    for (const [kind, folder] of mediaOf(definition)) {
      const kinds = folders.get(folder) ?? []
      if (names.has(folder) && !kinds.includes(kind)) folders.set(folder, [...kinds, kind])
    }
  }
  return folders
}

function mediaOf ({ media }: ExporterDefinition): [MediaKind, string][] {
  return Object.entries(media).map(([kind, folder]) => [kind as MediaKind, safeRelativePath(folder)])
}

/** Returns the path of an exporter's file for a platform, as the operator configured the library. */
function exportPath (
  { dir }: LibraryRoot, structure: Structure, platform: ExportPlatform, fileName: string
): string {
  return join(dir, romsPath(structure, platform.fs_slug), fileName)
}

/**
 * Writes the files of some exporters for one platform. Failures are in the outcome.
 *
 * @throws only the signal's reason once it is aborted.
 */
export async function exportPlatform (
  work: PlatformExport, exporters: readonly LoadedExporter[], folders: MediaFolders
): Promise<ExportOutcome> {
  const { platform, root, structure, hanging, signal } = work
  const outcome: ExportOutcome = { files: [], errors: [] }
  const pathOf = ({ definition }: LoadedExporter) => exportPath(root, structure, platform, definition.fileName)
  const fail = (exporter: LoadedExporter, err: unknown) => {
    signal.throwIfAborted()
    const path = pathOf(exporter)
    const reason = describeWriteError(err, dirname(path))
    outcome.errors.push({ exporter: exporter.key, platform: platform.slug, path, reason, is_unavailable: false })
  }
  let library: Library
  try {
    library = await prepare(work, folders)
  } catch (err) {
    exporters.forEach((exporter) => { fail(exporter, err) })
    return outcome
  }
  for (const exporter of exporters) {
    try {
      if (hanging.has(exporter.key)) throw exportFailed(`The exporter '${exporter.key}' hung at an earlier platform and is skipped`)
      const facts = await exportFile(work, exporter, library)
      const location = { platform: platform.slug, library_id: root.id, path: pathOf(exporter) }
      outcome.files.push({ exporter: exporter.key, ...location, ...facts })
    } catch (err) {
      if (err instanceof TimeLimitError) hanging.add(exporter.key)
      fail(exporter, err)
    }
  }
  return outcome
}

/** Reads the games of a platform, and publishes their media. */
async function prepare (
  { platform, root: libraryRoot, structure, store, db, cache, signal }: PlatformExport, folders: MediaFolders
): Promise<Library> {
  const location = { platform_id: platform.id, library_id: libraryRoot.id }
  const root = await openPlatformFolder(libraryRoot, structure, platform)
  const records = await loadMediaRecords(cache, location)
  const mediaWriter = createMediaWriter({ root, store, folders, records })
  const library: Library = { root, games: [], skipped: [], media_errors: mediaWriter.errors }
  try {
    for await (const page of readGames(db, location, romsPath(structure, platform.fs_slug))) {
      library.games.push(...await writeAllMedia(mediaWriter, page.drafts, signal))
      library.skipped.push(...page.skipped)
    }
    await mediaWriter.deleteStale()
    for (const game of library.games) {
      signal.throwIfAborted()
      game.files = await mediaWriter.listFiles(game.draft)
    }
    return library
  } finally {
    await records.save()
  }
}

/**
 * @throws LibraryUnreadableError if the folder does not exist; ApiError EXPORT_FAILED if the folder is the library
 * itself, or the library is read-only
 */
async function openPlatformFolder (
  libraryRoot: LibraryRoot, structure: Structure, { fs_slug: fsSlug }: PlatformRow
): Promise<string> {
  const { dir, is_writable: isWritable } = libraryRoot
  if (!isWritable) throw exportFailed(describeReadOnly(libraryRoot))
  const root = await platformRoot(dir, structure, fsSlug)
  if (!isInside(root, await realLibraryDirectory(dir))) return root
  throw exportFailed(`The folder of the platform '${fsSlug}' is a link to the library itself. ` +
    'Change the link to a folder that contains only this platform.')
}

async function writeAllMedia (
  mediaWriter: MediaWriter, drafts: readonly GameDraft[], signal: AbortSignal
): Promise<Library['games']> {
  const games: Library['games'] = []
  for (let start = 0; start < drafts.length; start += GAMES_AT_ONCE) {
    signal.throwIfAborted()
    const batch = drafts.slice(start, start + GAMES_AT_ONCE)
    // All have to end before an error is passed on: nothing may be written after that.
    const results = await Promise.allSettled(batch.map(async (draft) =>
      ({ draft, mediaFiles: await mediaWriter.writeMedia(draft), files: [] })))
    for (const result of results) {
      if (result.status === 'rejected') throw result.reason
      games.push(result.value)
    }
  }
  return games
}

async function exportFile (work: PlatformExport, exporter: LoadedExporter, library: Library) {
  const { definition, key } = exporter
  const location = { platform_id: work.platform.id, library_id: work.root.id }
  const records = await loadPathRecords(work, key, location, library.games.map(({ draft }) => draft.game))
  const games = library.games.map(({ draft: { game }, mediaFiles, files }) => ({
    ...game, ...records.readFormer(game), media: pickMedia(definition, mediaFiles), media_files: files
  }))
  const file = await readExisting(library.root, safeName(definition.fileName))
  const result = await render(work, exporter, games, file.text)
  const written = await replaceTextFile(file, result.text.toWellFormed())
  await records.save()
  const skipped = result.skipped.map(({ rom_id: id, reason }) => ({ rom_id: id, reason: toReason(reason) }))
  return {
    written,
    games: games.length - skipped.length,
    media_files: games.reduce((sum, { media }) => sum + Object.keys(media).length, 0),
    skipped: [...library.skipped, ...skipped],
    media_errors: [...library.media_errors]
  }
}

function pickMedia (definition: ExporterDefinition, mediaFiles: ReadonlyMap<string, MediumFile>): ExportGame['media'] {
  return Object.fromEntries(mediaOf(definition).flatMap(([kind, folder]) => {
    const medium = mediaFiles.get(folder)
    return medium?.kind === kind ? [[kind, medium.path]] : []
  }))
}

async function readExisting (root: string, name: string): Promise<TextFile> {
  try {
    return await readTextFile(root, name)
  } catch (err) {
    if (err instanceof ApiError || errorCode(err) === '') throw err
    throw exportFailed(`${name} cannot be read: ${reasonOf(err)}. Correct the cause, or move the file away to ` +
      'have a new one written.', { cause: err })
  }
}

/** Names the exporter of an error that it threw, with the remedy. @param existing the text that the exporter got */
function toExportError ({ key, definition }: LoadedExporter, existing: string | null, err: unknown): ApiError {
  const reason = toReason(err)
  const remedy = existing === null
    ? 'Update the plugin, or remove it.'
    : `If ${definition.fileName} is correct, update the plugin, or remove it.`
  return exportFailed(`The exporter '${key}' failed: ${reason}${/[.!?]$/.test(reason) ? '' : '.'} ${remedy}`, { cause: err })
}

/** @throws TimeLimitError, and ApiError EXPORT_FAILED if the exporter throws or its result is invalid. */
async function render (
  { platform: { slug, fs_slug: fsSlug, name }, config, signal, renderTimeoutMs = RENDER_TIMEOUT_MS }: PlatformExport,
  exporter: LoadedExporter, games: readonly ExportGame[], existing: string | null
): Promise<ExportResult> {
  const { definition, key } = exporter
  const result: unknown = await limitTime(`The exporter '${key}' did not answer within`, renderTimeoutMs, signal, async (limited) => {
    const scope = { signal: limited, memo: createMemo(), preferences: readPreferences(config) }
    const context = exporter.context(scope) as Parameters<typeof definition.render>[3]
    return await definition.render({ slug, fs_slug: fsSlug, name }, games, existing, context)
  }).catch((err: unknown) => { throw err instanceof TimeLimitError ? err : toExportError(exporter, existing, err) })
  if (Value.Check(ExportResultSchema, result)) return result
  throw exportFailed(`The exporter '${key}' did not return { text, skipped }; report this to its author`)
}
