import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { type Config, loadConfig } from '../../core/config.ts'
import { createHasher } from '../../core/hashing/hasher.ts'
import { LibraryUnreadableError, readLibraryDirectory } from '../../core/library/directory.ts'
import { type ExclusionRules, DEFAULT_EXCLUDED_EXTENSIONS, DEFAULT_EXCLUDED_FILES, createExclusions } from '../../core/library/exclusions.ts'
import { type Structure, detectStructure, firmwarePath, listPlatformFolders, romsPath } from '../../core/library/structure.ts'
import { createHttpClient } from '../../core/http.ts'
import { createMemo, readPreferences } from '../../core/plugin-context.ts'
import { USER_AGENT } from '../../core/plugin-services.ts'
import { Platform } from '../platforms/entities.ts'
import { Rom } from '../roms/entities.ts'
import type { TaskRun } from '../tasks/service.ts'
import { type Artwork, createArtwork } from './artwork.ts'
import { scanFirmware } from './firmware-scan.ts'
import { type ScannedPlatform, createIdentification } from './identification.ts'
import { createIdentifier } from './identify.ts'
import { readPriorities } from './merge.ts'
import { type PlatformScanServices, scanPlatform } from './platform-scan.ts'
import { type Progress, createProgress } from './progress.ts'
import { createRomStore } from './rom-store.ts'
import { scanRoms } from './roms-scan.ts'
import type { ScanPayload, ScanStats } from './schemas.ts'

/** Platforms without a hash database: hashing terabytes of them would find nothing. */
const UNHASHED_PLATFORMS = new Set(['amazon-alexa', 'amazon-fire-tv', 'android', 'gear-vr', 'ios', 'ipad', 'linux', 'mac',
  'meta-quest-2', 'meta-quest-3', 'oculus-go', 'oculus-quest', 'oculus-rift', 'ps3', 'ps4', 'ps5', 'psvr', 'psvr2',
  'series-x-s', 'switch', 'switch-2', 'wiiu', 'win', 'xbox360', 'xboxone'])

/** A platform that one of these sources knows counts as identified. */
const IDENTIFYING_IDS = ['igdb_id', 'moby_id', 'ss_id', 'launchbox_id', 'ra_id', 'hasheous_id'] as const

/** What is done with the scanned platforms at the end, such as exports. */
export type AfterScan = (platformIds: readonly number[], signal: AbortSignal) => Promise<void>

export interface ScanOutcome { stats: ScanStats, platformIds: number[] }

/** The library as it lies on disk now. */
interface Library { structure: Structure, folders: string[] }

async function readLibrary (config: Config, rules: ExclusionRules, progress: Progress): Promise<Library> {
  const structure = await detectStructure(config.library_dir, config.filesystem, rules)
  if (structure === null) {
    throw new Error(`The library ${config.library_dir} holds no platform folders. Put ROMs into ` +
      `${join(config.library_dir, config.filesystem.roms_folder)}/<platform>/ and scan again.`)
  }
  const { platforms, problems } = await listPlatformFolders(config.library_dir, structure, rules)
  for (const { path, reason } of problems) progress.problem({ platform: path, path, reason })
  return { structure, folders: platforms }
}

/** Chooses the folders a payload asks for; ids and names that do not exist are ignored. */
function chooseFolders (payload: ScanPayload, folders: string[], known: Platform[]): string[] {
  if (payload.platforms.length === 0 && payload.platform_fs_slugs.length === 0) return folders
  const byId = known.filter((platform) => payload.platforms.includes(platform.id)).map((platform) => platform.fs_slug)
  const wanted = new Set([...byId, ...payload.platform_fs_slugs])
  return folders.filter((folder) => wanted.has(folder))
}

/** An empty or vanished library must not read as "everything was deleted". */
function checkNotVanished (config: Config, { folders }: Library, known: Platform[]): void {
  const present = known.filter((platform) => !platform.missing_from_fs)
  if (folders.length > 0 || present.length === 0) return
  throw new Error(`The library ${config.library_dir} is empty, but ${present.length} platforms are known. ` +
    'Nothing was marked missing. Check that the disk is mounted.')
}

function readConfigAnew (app: FastifyInstance, config: Config): Config {
  try {
    return loadConfig({ ...process.env, SVC_DATA_DIR: config.data_dir, SVC_LIBRARY_DIR: config.library_dir,
      SVC_AUTH_SECRET_KEY: config.auth.secret_key }).config
  } catch (err) {
    app.log.warn({ err }, 'config.yml cannot be used; the settings from before it was changed apply')
    return config
  }
}

/** Runs one scan from its payload to its last event. */
export async function runScan (app: FastifyInstance, startConfig: Config, run: TaskRun<ScanPayload>, after: readonly AfterScan[]): Promise<ScanOutcome> {
  const config = readConfigAnew(app, startConfig)
  const { payload, signal } = run
  const log = app.log.child({ task: run.id })
  const progress = createProgress(app, log as never, run.report)
  const rules = createExclusions(config.exclude)
  const hasher = createHasher({
    ...(config.scan.hash_threads === 0 ? {} : { threads: config.scan.hash_threads }),
    excluded: { names: DEFAULT_EXCLUDED_FILES, extensions: DEFAULT_EXCLUDED_EXTENSIONS },
    limits: { timeoutMs: config.scan.archive_timeout_seconds * 1_000 }
  })
  const http = createHttpClient({ name: 'artwork', userAgent: USER_AGENT, log })
  const memo = createMemo()
  const identifier = createIdentifier(app.registry.providers, payload.apis ?? [...app.registry.providers.keys()],
    { signal, memo, preferences: readPreferences(config) }, log as never)
  const store = createRomStore(app.pg)
  const artwork: Artwork = createArtwork({
    http: http.withSignal(signal), pool: app.pg, log: log as never, libraryDir: config.library_dir,
    resourcesDir: join(config.data_dir, 'resources')
  }, signal)
  const announce: PlatformScanServices['announce'] = async (ids, flags) => {
    const granted = ids.slice(0, progress.grant(ids.length))
    if (granted.length === 0 || !app.hasDecorator('roms')) return
    for (const rom of await app.roms.views(granted, null)) {
      app.sockets.publish(null, 'scan:scanning_rom', { ...rom, ...flags })
    }
  }
  const identification = createIdentification({
    app, config, type: payload.type, store, artwork, identifier, priorities: readPriorities(config), progress, signal, announce
  })
  const services: PlatformScanServices = {
    libraryDir: config.library_dir, rules, type: payload.type, selected: identifier.keys, store, hasher, progress, signal,
    announce,
    hashes: (slug) => !config.filesystem.skip_hash_calculation && !UNHASHED_PLATFORMS.has(slug),
    identify: (due, platform) => identification.add(due, platform),
    dropArtwork: async (ids, platform) => {
      await artwork.drop(ids.map((id) => ({ id, platform_id: platform.id })))
      await app.orm.em.fork().nativeUpdate(Rom, { id: [...ids] }, {
        url_cover: null, path_cover_large: null, path_cover_small: null, url_screenshots: [], path_screenshots: [],
        url_manual: null, path_manual: null, media: {}
      })
    }
  }

  try {
    const platformIds = payload.roms_ids.length > 0
      ? await scanRoms(app, payload.roms_ids, services, await requireStructure())
      : await scanLibrary(await readLibrary(config, rules, progress))
    await identification.finish()
    for (const [provider, reason] of identifier.refusals()) {
      progress.problem({ platform: '', path: '', reason: `provider ${provider} was not asked any more: ${reason}` })
    }
    for (const step of after) await step(platformIds, signal)
    return { stats: progress.stats, platformIds }
  } finally {
    progress.close()
    await progress.flush().catch((err: unknown) => { log.warn({ err }, 'the last totals could not be written') })
    await Promise.all([hasher.close(), http.close()])
  }

  async function requireStructure (): Promise<Structure> {
    return (await readLibrary(config, rules, progress)).structure
  }

  async function scanLibrary (library: Library): Promise<number[]> {
    const em = app.orm.em.fork()
    const known = await em.find(Platform, {})
    checkNotVanished(config, library, known)
    const names = new Set(known.map((platform) => platform.fs_slug))
    const chosen = chooseFolders(payload, library.folders, known)
      .filter((folder) => payload.type !== 'new_platforms' || !names.has(folder))
    await countTotals(library.structure, chosen)
    const ids: number[] = []
    for (const folder of chosen) {
      signal.throwIfAborted()
      ids.push(await scanFolder(folder, library.structure))
    }
    const present = new Set(library.folders)
    await markPlatforms(known.filter((platform) => !present.has(platform.fs_slug)).map((platform) => platform.id))
    return ids
  }

  async function countTotals (structure: Structure, folders: string[]): Promise<void> {
    let total = 0
    for (const folder of folders) {
      const items = await readLibraryDirectory(join(config.library_dir, romsPath(structure, folder))).catch(() => [])
      total += items.filter((item) => item.kind === 'folder'
        ? !rules.isExcludedMulti(item.name)
        : !rules.isExcludedSingle(item.name)).length
    }
    progress.add({ total_platforms: folders.length, total_roms: total })
  }

  async function scanFolder (folder: string, structure: Structure): Promise<number> {
    const { platform: row, isNew } = await app.platforms.ensure(app.orm.em.fork(), folder)
    const platform: ScannedPlatform = {
      id: row.id, slug: row.slug, fs_slug: row.fs_slug, name: row.custom_name ?? row.name, fs_path: romsPath(structure, folder)
    }
    const isIdentified = IDENTIFYING_IDS.some((id) => app.platforms.facts(row)?.[id] != null)
    progress.add({ scanned_platforms: 1, new_platforms: isNew ? 1 : 0, identified_platforms: isIdentified ? 1 : 0 })
    const added = await scanFirmware(platform, {
      em: app.orm.em.fork(), libraryDir: config.library_dir, folder: firmwarePath(structure, folder),
      isExcluded: rules.isExcludedSingle, type: payload.type, hasher, progress, signal
    })
    app.sockets.publish(null, 'scan:scanning_platform', {
      id: row.id, name: row.name, display_name: platform.name, slug: row.slug, fs_slug: row.fs_slug,
      is_identified: isIdentified, new_firmware_count: added
    })
    try {
      await scanPlatform(platform, services)
    } catch (err) {
      signal.throwIfAborted()
      if (!(err instanceof LibraryUnreadableError)) throw err
      progress.problem({ platform: folder, path: platform.fs_path, reason: err.message })
    }
    return row.id
  }

  /** A platform folder that is gone takes its ROMs along: rows stay, marked. */
  async function markPlatforms (goneIds: number[]): Promise<void> {
    const em = app.orm.em.fork()
    await em.nativeUpdate(Platform, { id: { $nin: goneIds }, missing_from_fs: true }, { missing_from_fs: false })
    if (goneIds.length === 0) return
    await em.nativeUpdate(Platform, { id: goneIds }, { missing_from_fs: true })
    await em.nativeUpdate(Rom, { platform: goneIds, missing_from_fs: false }, { missing_from_fs: true, updated_at: new Date() })
  }
}
