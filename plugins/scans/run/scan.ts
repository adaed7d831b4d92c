import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { type Config, loadConfig } from '../../../core/config/config.ts'
import { consoleOf } from '../hashing/retroachievements/platforms.ts'
import { settingsEnvironment } from '../../../core/config/environment.ts'
import { readPreferences } from '../../../core/loader/context.ts'
import { createMemo } from '../../../core/loader/memo.ts'
import { Platform } from '../../platforms/entities.ts'
import { recoverRenames } from '../../roms/rename.ts'
import type { TaskRun } from '../../tasks/definitions.ts'
import { createAnnouncer } from './announcer.ts'
import { createArtwork } from '../artwork/artwork.ts'
import { createArtworkClient } from '../artwork/client.ts'
import { createOrigins } from '../artwork/origins.ts'
import { forgetArtwork } from '../artwork/rows.ts'
import { createIdentification } from '../identify/all-roms.ts'
import { createRomLookup } from '../identify/one-rom.ts'
import { createTitles } from '../identify/titles.ts'
import { createLibraryScan } from './library-scan.ts'
import { readLibrary } from '../disk/library.ts'
import { createMoves } from '../disk/moves.ts'
import { createMatchStore } from '../store/match-rows.ts'
import { readPriorities } from '../identify/merge.ts'
import { createPlatformFolders } from '../disk/platform-folder.ts'
import type { PlatformScanServices } from './platform-services.ts'
import { createListeners } from './listeners.ts'
import { createProgress } from './progress.ts'
import { createRomStore } from '../store/rom-rows.ts'
import { createTableStatistics } from '../store/statistics-rows.ts'
import { scanRoms } from './roms-scan.ts'
import type { ScanHasher } from '../hashing/scan-hasher.ts'
import type { ScanPayload, ScanProblem } from '../schemas.ts'
import { DatabaseUnableError, explainDatabaseError } from './database-errors.ts'
import { readUnfinished } from './unfinished-rows.ts'

/** Platforms without a hash database: hashing terabytes of them would find nothing. */
const UNHASHED_PLATFORMS = new Set(['amazon-alexa', 'amazon-fire-tv', 'android', 'gear-vr', 'ios', 'ipad', 'linux', 'mac',
  'meta-quest-2', 'meta-quest-3', 'oculus-go', 'oculus-quest', 'oculus-rift', 'ps3', 'ps4', 'ps5', 'psvr', 'psvr2',
  'series-x-s', 'switch', 'switch-2', 'wiiu', 'win', 'xbox360', 'xboxone'])

/** What is done with the scanned platforms at the end, such as exports, and what went wrong with it. */
export type AfterScan = (platformIds: readonly number[], signal: AbortSignal) => Promise<readonly ScanProblem[]>

function readConfigAnew (app: FastifyInstance, config: Config): Config {
  try {
    return loadConfig({
      ...settingsEnvironment(),
      SVC_DATA_DIR: config.data_dir,
      SVC_LIBRARY_DIR: config.library_dir,
      SVC_AUTH_SECRET_KEY: config.auth.secret_key
    }).config
  } catch (err) {
    app.log.warn({ err }, 'config.yml cannot be used; the settings from before it was changed apply')
    return config
  }
}

/** Runs one scan from its payload to its last total. What is done when it throws stays done. */
export async function runScan (
  app: FastifyInstance, startConfig: Config, hashers: ScanHasher, run: TaskRun<ScanPayload>, after: readonly AfterScan[]
): Promise<void> {
  const config = readConfigAnew(app, startConfig)
  const { payload } = run
  const { type } = payload
  const unfinished = await readUnfinished(app.pg, run)
  /** Ends what is still under way when the scan is over, however it ended. */
  const ending = new AbortController()
  const signal = AbortSignal.any([run.signal, ending.signal])
  const log = app.log.child({ task: run.id }) as Logger
  const { providers } = app.registry
  const listeners = createListeners(app, log)
  const progress = createProgress(app, log, listeners, run.report)
  const announcer = createAnnouncer(app, config, listeners)
  const hasher = hashers.take(config)
  const store = createRomStore(app.pg)
  const statistics = createTableStatistics(app.pg, log)
  const resourcesDir = join(config.data_dir, 'resources')
  const http = createArtworkClient(app, config, log)
  const scope = { signal, memo: createMemo(), preferences: readPreferences(config), options: payload }
  const romLookup = createRomLookup(providers, payload.apis ?? [...providers.keys()], app.circuits.of, scope, log,
    config.scan.priority.region_mode === 'prefer_rom_tags')
  const artwork = createArtwork({
    origins: createOrigins({
      http: http.withSignal(signal), libraryDir: config.library_dir, providers, breakerOf: app.circuits.of, scope
    }),
    pool: app.pg,
    log,
    resourcesDir,
    task: run.id
  }, signal)
  const matches = createMatchStore(app.pg)
  const identification = createIdentification({
    app, config, type, romLookup, progress, announcer, signal,
    titles: createTitles(providers, scope, log),
    artwork: { ...artwork, fetch: (subject) => artwork.fetch(subject).catch(giveUp) },
    store: { writeMatches: (writes) => matches.writeMatches(writes).catch(giveUp) },
    priorities: readPriorities(config, providers)
  })
  const { rules } = app.library
  const services: PlatformScanServices = {
    libraryDir: config.library_dir,
    rules,
    type,
    selected: romLookup.keys,
    begunAt: run.begun_at,
    unfinished,
    store,
    statistics,
    folders: createPlatformFolders({ pool: app.pg, libraryDir: config.library_dir, rules }),
    moves: createMoves({ store, libraryDir: config.library_dir, resourcesDir }),
    hasher,
    progress,
    announcer,
    signal,
    hashes: (slug) => !config.filesystem.skip_hash_calculation && !UNHASHED_PLATFORMS.has(slug),
    raConsole: (slug) => config.filesystem.skip_hash_calculation ? null : consoleOf(slug),
    identify: identification.add,
    dropArtwork: async (ids, platform) => {
      // Rows first: when this process dies in between, no row names a file that is not there.
      const kept = await forgetArtwork(app.pg, ids)
      await artwork.drop(kept.map((rom) => ({ ...rom, platform_id: platform.id })))
    }
  }

  /** What was found and cannot be stored is one ROM's problem; that nothing can be stored is the scan's. */
  function giveUp (err: unknown): never {
    const reason = explainDatabaseError(err)
    if (reason instanceof DatabaseUnableError) ending.abort(reason)
    throw reason
  }

  async function scan (): Promise<number[]> {
    await artwork.clear().catch((err: unknown) => { log.warn({ err }, 'half-written artwork could not be deleted') })
    await recoverRenames({ pool: app.pg, libraryDir: config.library_dir })
    const known = await app.orm.em.fork().find(Platform, {})
    const library = await readLibrary(config, rules, known, progress)
    return payload.roms_ids.length > 0
      ? await scanRoms(app, config, payload.roms_ids, services, library)
      : await createLibraryScan(app, config, services)(payload, library, known)
  }

  try {
    const platformIds = await scan()
    await identification.finish()
    signal.throwIfAborted()
    for (const step of after) (await step(platformIds, signal)).forEach(progress.problem)
  } catch (err) {
    throw explainDatabaseError(err)
  } finally {
    ending.abort(new Error('The scan is over'))
    await identification.finish().catch((err: unknown) => {
      log.warn({ err }, 'what was found last could not be stored')
    })
    for (const reason of romLookup.complaints()) progress.problem({ platform: '', path: '', reason })
    await artwork.problems().then((problems) => { problems.forEach(progress.problem) })
      .catch((err: unknown) => { log.warn({ err }, 'what is wrong with the artwork could not be told') })
    await artwork.close().catch((err: unknown) => { log.warn({ err }, 'half-written artwork could not be deleted') })
    progress.close()
    listeners.close()
    await progress.flush().catch((err: unknown) => { log.warn({ err }, 'the last totals could not be written') })
    hashers.release()
    await statistics.settle()
    await http.close()
  }
}
