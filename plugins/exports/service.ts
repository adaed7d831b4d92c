import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { Config } from '../../core/config/config.ts'
import { getAt } from '../../core/config/setting-values.ts'
import { ApiError, conflict } from '../../core/errors.ts'
import { describeWrongSwitch } from '../../core/loader/checks/plugin-keys.ts'
import { createCache } from '../../core/loader/plugin-cache.ts'
import { toReason } from './files/fs-reason.ts'
import { findLibrariesWithPlatform, findReadableLibraries, findUnmountedHome } from './find-libraries.ts'
import { listPlatforms } from './find-platforms.ts'
import {
  type LoadedExporter, type PlatformRow, exportPlatform, findObstacle, listMediaFolders
} from './platform/platform-export.ts'
import { withPlatformLock } from './platform/platform-lock.ts'
import { createExportRequests } from './request-export.ts'
import type { ExportOutcome } from './schemas.ts'

const SHOWN_REASONS = 3

export interface ExportOptions {
  /** Keys of active exporters; undefined means all. */
  exporters?: readonly string[]
  /** Undefined means all platforms that are on disk. */
  platformIds?: readonly number[] | null
  renderTimeoutMs?: number
  signal: AbortSignal
}

/** Returns the outcome for platforms whose libraries cannot be read. @param path the folder of a library */
function failAll (
  path: string, platforms: readonly PlatformRow[], chosen: readonly LoadedExporter[], err: unknown
): ExportOutcome {
  const failure = { path, reason: toReason(err), is_unavailable: !(err instanceof ApiError) || err.statusCode === 503 }
  const errors = platforms.flatMap(({ slug }) =>
    chosen.map(({ key }) => ({ exporter: key, platform: slug, ...failure })))
  return { files: [], errors }
}

function logOutcome (log: FastifyBaseLogger, { files, errors }: ExportOutcome): void {
  for (const { path, games, written, media_errors: failed } of files) {
    if (failed.length > 0) log.warn({ path, failed: failed.slice(0, SHOWN_REASONS) }, 'media of an export could not be written')
    log.info({ path, games, written }, 'exported')
  }
  for (const error of errors) log.warn(error, 'export failed')
}

function addOutcome (outcome: ExportOutcome, { files, errors }: ExportOutcome): void {
  outcome.files.push(...files)
  outcome.errors.push(...errors)
}

/** True if an exporter runs after each scan. */
function isSwitchedOn (config: Config, log: FastifyBaseLogger, key: string): boolean {
  const problem = describeWrongSwitch(config, key)
  if (problem === null) return getAt(config.scan, [key, 'export']) === true
  log.warn(problem)
  return false
}

/** Describes why an exporter cannot be called. */
function describeInactive ({ registry }: Pick<FastifyInstance, 'registry'>, key: string): string {
  const loaded = registry.exporters.get(key)
  const reason = loaded === undefined
    ? registry.records.find((record) => record.kind === 'exporter' && record.key === key)?.reason
    : findObstacle(loaded)
  return `The exporter '${key}' is not available on this server; an administrator can correct this: ` +
    (reason ?? 'it is not installed, so run svc plugins add, or restart the server to remove its route')
}

function pickExporters (
  app: FastifyInstance, exporters: ReadonlyMap<string, LoadedExporter>, keys: readonly string[]
): LoadedExporter[] {
  return keys.map((key) => {
    const exporter = exporters.get(key)
    if (exporter === undefined) throw conflict(describeInactive(app, key))
    return exporter
  })
}

/** Returns the exporters whose files the host can write, by key. */
function listUsable ({ registry }: Pick<FastifyInstance, 'registry'>, log: FastifyBaseLogger): Map<string, LoadedExporter> {
  return new Map([...registry.exporters].filter(([key, exporter]) => {
    const reason = findObstacle(exporter)
    if (reason !== null) log.warn({ exporter: key, reason }, 'exporter skipped')
    return reason === null
  }))
}

export function createExports (app: FastifyInstance, config: Config) {
  const log = app.log.child({ feature: 'exports' })
  let exporters = listUsable(app, log)
  app.registry.onReload(({ kind }) => { if (kind === 'exporter') exporters = listUsable(app, log) })

  /** Returns the reason why an exporter cannot be called; null if it can. */
  const findProblem = (key: string): string | null => exporters.has(key) ? null : describeInactive(app, key)

  /**
   * Writes the files of exporters, one platform after the other. It runs plugins, so only the scan worker may call it.
   * Failures of a platform are in the outcome.
   *
   * @throws ApiError CONFLICT if an exporter cannot be called.
   * @throws the signal's reason once it is aborted.
   */
  async function exportPlatforms (
    { exporters: keys, platformIds, renderTimeoutMs, signal }: ExportOptions
  ): Promise<ExportOutcome> {
    const { db, store } = app
    const wanted = pickExporters(app, exporters, keys ?? [...exporters.keys()])
    const platforms = await listPlatforms(db, platformIds ?? null)
    const outcome: ExportOutcome = { files: [], errors: [] }
    if (platforms.length === 0 || wanted.length === 0) return outcome
    const libraries = await findReadableLibraries(app.library, log).catch((err: unknown) => ({ err }))
    if ('err' in libraries) {
      log.error(libraries, 'export failed: the library cannot be read')
      return failAll(config.library_dir, platforms, wanted, libraries.err)
    }
    const folders = listMediaFolders(wanted, exporters.values())
    const shared = { config, store, db, cache: createCache(db, 'exports'), hanging: new Set<string>(), renderTimeoutMs }
    for (const platform of platforms) {
      const unmounted = await findUnmountedHome({ library: app.library, log }, libraries, platform)
      if (unmounted !== null) {
        addOutcome(outcome, failAll(unmounted.root.dir, [platform], wanted, unmounted.err))
        continue
      }
      for (const library of await findLibrariesWithPlatform(libraries, platform)) {
        const part = await withPlatformLock(app.databaseUrl, platform.id, signal, (running) =>
          exportPlatform({ platform, ...library, ...shared, signal: running }, wanted, folders))
        logOutcome(log, part)
        addOutcome(outcome, part)
      }
    }
    return outcome
  }

  return {
    exportPlatforms,
    findProblem,
    request: createExportRequests(app, config),

    /** Exports the scanned platforms at the end of a scan, with each exporter whose `scan.<key>.export` is true. */
    async exportAfterScan (platformIds: readonly number[], signal: AbortSignal): Promise<ExportOutcome> {
      const keys = [...exporters.keys()].filter((key) => isSwitchedOn(config, log, key))
      return await exportPlatforms({ exporters: keys, platformIds, signal })
    }
  }
}
