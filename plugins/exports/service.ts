import { join } from 'node:path'
import { Value } from '@sinclair/typebox/value'
import type { FastifyInstance } from 'fastify'
import type { Context } from '../../core/access/context.ts'
import { sha256 } from '../../core/access/secrets.ts'
import { type Config, getAt } from '../../core/config/config.ts'
import { notFound } from '../../core/errors.ts'
import { createPathMask } from '../../core/config/path-mask.ts'
import { LibraryUnreadableError, isFolder } from '../library/directory.ts'
import { romsPath } from '../library/structure.ts'
import { createCache } from '../../core/loader/context.ts'
import { exportFailed } from './errors.ts'
import { libraryEmpty } from '../library/errors.ts'
import { Platform } from '../platforms/entities.ts'
import type { AnyCaller } from '../platforms/visibility.ts'
import { toReason } from './files/fs-reason.ts'
import { maskPlaces } from './filter-report.ts'
import {
  type LoadedExporter, type PlatformRow, type PlatformServices, exportPlatform, findObstacle, listMediaFolders
} from './platform/platform-export.ts'
import { withPlatformLock } from './platform/platform-lock.ts'
import { type ExportOutcome, ExportOutcomeSchema } from './schemas.ts'

export const EXPORT_QUEUE = 'shared-exports'
/** The time that a caller waits. The export itself continues. */
const ANSWER_TIMEOUT_MS = 10 * 60_000
const SHOWN_REASONS = 3

type ReadableLibrary = Pick<PlatformServices, 'root' | 'structure'>

export interface ExportOptions {
  /** Keys of active exporters; undefined means all. */
  exporters?: readonly string[]
  /** Undefined means all platforms that are on disk. */
  platformIds?: readonly number[] | null
  signal: AbortSignal
}

const toRow = ({ id, slug, fs_slug: fsSlug, name, custom_name: customName }: Platform): PlatformRow => ({
  id, slug, fs_slug: fsSlug, name: customName === null || customName === undefined || customName === '' ? name : customName
})

export function createExports (app: FastifyInstance, config: Config) {
  const cache = createCache(app.db, 'exports')
  const log = app.log.child({ feature: 'exports' })
  const mask = createPathMask(config)
  const exporters = new Map([...app.registry.exporters].filter(([key, exporter]) => {
    const reason = findObstacle(exporter)
    if (reason !== null) log.warn({ exporter: key, reason }, 'exporter skipped')
    return reason === null
  }))

  function pickExporters (keys: readonly string[]): LoadedExporter[] {
    return keys.map((key) => {
      const exporter = exporters.get(key)
      if (exporter !== undefined) return exporter
      throw exportFailed(`The exporter '${key}' is not active; GET /api/plugins shows its status and the reason`)
    })
  }

  async function listPlatforms (ids: readonly number[] | null): Promise<PlatformRow[]> {
    const where = ids === null ? { missing_from_fs: false } : { id: { $in: [...ids] } }
    const rows = await app.db.em.find(Platform, where, { orderBy: { fs_slug: 'asc' } })
    return rows.map(toRow)
  }

  /**
   * Returns the libraries that can be read.
   *
   * @throws LibraryUnreadableError, or ApiError LIBRARY_EMPTY, if there is none
   */
  async function findReadableLibraries (): Promise<ReadableLibrary[]> {
    const libraries: ReadableLibrary[] = []
    const roots = await app.library.list()
    let problem: LibraryUnreadableError | null = null
    for (const root of roots) {
      try {
        const structure = await app.library.detectStructure(root)
        if (structure !== null) libraries.push({ root, structure })
      } catch (err) {
        if (!(err instanceof LibraryUnreadableError)) throw err
        log.warn({ err, library: root.name }, 'a library cannot be read; the export skips it')
        problem ??= err
      }
    }
    if (libraries.length > 0) return libraries
    throw problem ?? libraryEmpty(`The library ${JSON.stringify(roots[0]?.dir)} has no folder of ROMs; ` +
      'mount its disk or correct SVC_LIBRARY_DIR (library_dir in config.yml)')
  }

  /** Returns the libraries with a folder of the platform. Skips read-only libraries, unless only they have one. */
  async function findLibrariesWithPlatform (
    libraries: readonly ReadableLibrary[], { fs_slug: fsSlug }: PlatformRow
  ): Promise<ReadableLibrary[]> {
    const haveFolder = await Promise.all(libraries.map(({ root, structure }) =>
      isFolder(join(root.dir, romsPath(structure, fsSlug))).catch(() => true)))
    const librariesWithFolder = libraries.filter((_place, index) => haveFolder[index])
    const writable = librariesWithFolder.filter(({ root }) => root.is_writable)
    const chosen = writable.length > 0 ? writable : librariesWithFolder
    // If no library has such a folder, the export of the first library reports the error.
    return chosen.length > 0 ? chosen : libraries.slice(0, 1)
  }

  /** Returns the outcome for a library that cannot be read at all. */
  function failAll (platforms: readonly PlatformRow[], chosen: readonly LoadedExporter[], err: unknown): ExportOutcome {
    const failure = { path: config.library_dir, reason: toReason(err) }
    const errors = platforms.flatMap(({ slug }) =>
      chosen.map(({ key }) => ({ exporter: key, platform: slug, ...failure })))
    log.error({ err }, 'export failed: the library cannot be read')
    return { files: [], errors }
  }

  function logOutcome ({ files, errors }: ExportOutcome): void {
    for (const { path, games, written, media_errors: failed } of files) {
      if (failed.length > 0) log.warn({ path, failed: failed.slice(0, SHOWN_REASONS) }, 'media of an export could not be written')
      log.info({ path, games, written }, 'exported')
    }
    for (const error of errors) log.warn(error, 'export failed')
  }

  function isSwitchedOn (key: string): boolean {
    const value = getAt(config.scan, [key, 'export'])
    if (value === undefined || typeof value === 'boolean') return value === true
    log.warn({ setting: `scan.${key}.export`, value }, 'the setting is neither true nor false, so nothing is exported')
    return false
  }

  /**
   * Writes the files of exporters, one platform after the other. It runs plugins, so only the scan worker may call it.
   * Failures of a platform are in the outcome.
   *
   * @throws ApiError EXPORT_FAILED if an exporter is not active.
   * @throws the signal's reason once it is aborted.
   */
  async function exportPlatforms ({ exporters: keys, platformIds, signal }: ExportOptions): Promise<ExportOutcome> {
    const wanted = pickExporters(keys ?? [...exporters.keys()])
    const platforms = await listPlatforms(platformIds ?? null)
    const outcome: ExportOutcome = { files: [], errors: [] }
    if (platforms.length === 0 || wanted.length === 0) return outcome
    let libraries: ReadableLibrary[]
    try {
      libraries = await findReadableLibraries()
    } catch (err) {
      return failAll(platforms, wanted, err)
    }
    const folders = listMediaFolders(wanted, exporters.values())
    for (const platform of platforms) {
      for (const library of await findLibrariesWithPlatform(libraries, platform)) {
        const { files, errors } = await withPlatformLock(app.pg, platform.id, signal, (running) =>
          exportPlatform({ config, db: app.db, cache, ...library }, platform, wanted, folders, running))
        logOutcome({ files, errors })
        outcome.files.push(...files)
        outcome.errors.push(...errors)
      }
    }
    return outcome
  }

  /**
   * Runs an export in the worker. A repeated request for a running export waits for it, in any web worker. A request
   * for
   * other platforms starts after it.
   */
  async function runInWorker (
    exporter: string, platformIds: readonly number[] | null, caller: AnyCaller
  ): Promise<ExportOutcome> {
    const owner = `${caller?.id ?? 'server'}:${exporter}`
    const wanted = platformIds === null ? 'all' : sha256(platformIds.toSorted((a, b) => a - b).join(','))
    const outcome = await app.jobs.request(EXPORT_QUEUE, { exporter, platform_ids: platformIds }, ANSWER_TIMEOUT_MS, {
      group: owner, key: `${owner}:${wanted}`
    })
    if (!Value.Check(ExportOutcomeSchema, outcome)) throw new Error('The scan worker answered without an export outcome')
    return outcome
  }

  return {
    exportPlatforms,
    listExporters: () => [...exporters.values()],

    /** Exports the scanned platforms at the end of a scan, with each exporter whose `scan.<key>.export` is true. */
    async exportAfterScan (platformIds: readonly number[], signal: AbortSignal): Promise<ExportOutcome> {
      const keys = [...exporters.keys()].filter(isSwitchedOn)
      if (keys.length === 0 || platformIds.length === 0) return { files: [], errors: [] }
      return await exportPlatforms({ exporters: keys, platformIds, signal })
    },

    /**
     * Returns the ids of platforms that the caller sees, by slug, folder name and id; null means all.
     *
     * @throws ApiError NOT_FOUND with the first name or id that does not exist.
     */
    async findPlatforms (
      context: Context<AnyCaller>, names: readonly string[], ids: readonly number[]
    ): Promise<number[] | null> {
      const { db, caller } = context
      const hidden = caller === null ? new Set<string>() : await app.platforms.listHiddenFolders(context)
      const isVisible = { fs_slug: { $nin: [...hidden] } }
      if (names.length === 0 && ids.length === 0) {
        if (hidden.size === 0) return null
        return (await db.em.find(Platform, { ...isVisible, missing_from_fs: false })).map(({ id }) => id)
      }
      const isNamed = [{ slug: { $in: [...names] } }, { fs_slug: { $in: [...names] } }, { id: { $in: [...ids] } }]
      const rows = await db.em.find(Platform, { ...isVisible, $or: isNamed })
      const unknown = names.find((name) => !rows.some((row) => row.slug === name || row.fs_slug === name))
      if (unknown !== undefined) throw notFound(`Platform '${unknown}' not found`)
      const unknownId = ids.find((id) => !rows.some((row) => row.id === id))
      if (unknownId !== undefined) throw notFound(`Platform with ID '${unknownId}' not found`)
      return rows.map(({ id }) => id)
    },

    /**
     * Requests an export from the scan worker and waits for the outcome. Only administrators see paths of the machine
     * in it.
     *
     * @throws ApiError UNAVAILABLE without a worker; EXPORT_FAILED if no requested file could be written.
     */
    async request (
      exporter: string, platformIds: readonly number[] | null, caller: AnyCaller
    ): Promise<ExportOutcome> {
      await app.workers.requireScanWorker()
      const report = await runInWorker(exporter, platformIds, caller)
      const outcome = caller === null || caller.access.is_admin ? report : maskPlaces(report, mask)
      if (outcome.files.length > 0 || outcome.errors.length === 0) return outcome
      const reasons = outcome.errors.slice(0, SHOWN_REASONS).map(({ path, reason }) => `${path}: ${reason}`)
      throw exportFailed(`No file could be written. ${reasons.join(' ')}`)
    }
  }
}
