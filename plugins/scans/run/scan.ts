import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import type { Config } from '../../../core/config/config.ts'
import { readPreferences } from '../../../core/loader/context.ts'
import { createMemo } from '../../../core/loader/memo.ts'
import { Platform } from '../../platforms/entities.ts'
import { recoverRenames } from '../../roms/disk/rename.ts'
import type { TaskRun } from '../../tasks/definitions.ts'
import { createAnnouncer } from '../tell/announcer.ts'
import { createArtwork } from '../artwork/artwork.ts'
import { createArtworkClient } from '../artwork/client.ts'
import { createOrigins } from '../artwork/origins.ts'
import { forgetArtwork } from '../artwork/rows.ts'
import { createIdentification } from '../identify/all-roms.ts'
import { createKeeping } from '../identify/keep-outcomes.ts'
import { createRomLookup } from '../identify/ask/one-rom.ts'
import { createOutcomes } from '../identify/outcome.ts'
import type { ScannedPlatform } from '../identify/sdk-rom.ts'
import { createTitles } from '../identify/titles.ts'
import { createLibraryScan } from './library-scan.ts'
import { readLibrary } from '../disk/library.ts'
import { createMoves } from '../disk/moves.ts'
import { createMatchStore } from '../store/match-rows.ts'
import { readPriorities } from '../identify/merge/merge.ts'
import { createPlatformFolders } from '../disk/platform-folder.ts'
import { createTake } from '../disk/take.ts'
import { createEntryHasher } from '../hashing/entry-hasher.ts'
import { createPlatformScan } from './platform-scan.ts'
import { createListeners } from '../tell/listeners.ts'
import { createProgress } from '../tell/progress.ts'
import { createRebuild } from '../store/rebuild.ts'
import { createRomStore } from '../store/rom-rows.ts'
import { createStoreBatch } from '../store/store-batch.ts'
import { createTableStatistics } from '../store/statistics-rows.ts'
import { scanRoms } from './roms-scan.ts'
import type { ScanHasher } from '../hashing/scan-hasher.ts'
import type { ScanPayload, ScanProblem } from '../schemas.ts'
import { DatabaseUnableError, explainDatabaseError } from '../store/database-errors.ts'
import { readUnfinished } from './unfinished-rows.ts'

/** What is done with the scanned platforms at the end, such as exports, and what went wrong with it. */
export type AfterScan = (platformIds: readonly number[], signal: AbortSignal) => Promise<readonly ScanProblem[]>

/** Runs one scan from its payload to its last total. What is done when it throws stays done. */
export async function runScan (
  app: FastifyInstance, startConfig: Config, hashers: ScanHasher, run: TaskRun<ScanPayload>, after: readonly AfterScan[]
): Promise<void> {
  // What is changed during a scan is for the next one.
  const config: Config = { ...startConfig }
  const unusable = config.file.findProblem()
  if (unusable !== null) app.log.warn({ reason: unusable }, 'config.yml cannot be used; the settings from before it was changed apply')
  const { payload } = run
  const unfinished = await readUnfinished(app.pg, run)
  /** Ends what is still under way when the scan is over, however it ended. */
  const ending = new AbortController()
  const signal = AbortSignal.any([run.signal, ending.signal])
  const log = app.log.child({ task: run.id }) as Logger
  const { providers } = app.registry
  const listeners = createListeners(app, log)
  const progress = createProgress(app, log, listeners, run.report)
  const announcer = createAnnouncer(app, config, listeners)
  const hasher = createEntryHasher(hashers.take(config), config, signal)
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
  const choice = { type: payload.type, selected: romLookup.keys }
  const identification = createIdentification({
    choice,
    pool: app.pg,
    workers: config.scan.workers,
    titles: createTitles(providers, scope, log),
    findOutcome: createOutcomes({
      registry: app.registry, config, choice, romLookup, progress, priorities: readPriorities(config, providers)
    }),
    keeping: createKeeping({
      type: choice.type, providers, progress, announcer, log, signal,
      artwork: { fetch: (subject) => artwork.fetch(subject).catch(giveUp) },
      store: { writeMatches: (writes) => matches.writeMatches(writes).catch(giveUp) }
    }),
    signal
  })
  const platformScan = createPlatformScan({
    folders: createPlatformFolders({ pool: app.pg, libraryDir: config.library_dir, rules: app.library.rules }),
    take: createTake({ choice, hasher, store }),
    storeBatch: createStoreBatch({
      rebuild: createRebuild({
        choice, store, statistics, progress, announcer, dropArtwork,
        moves: createMoves({ store, libraryDir: config.library_dir, resourcesDir })
      }),
      identify: identification.add,
      store, progress, announcer, signal
    }),
    hasher, store, unfinished, progress, signal
  })

  async function dropArtwork (ids: readonly number[], platform: ScannedPlatform): Promise<void> {
    // Rows first: when this process dies in between, no row names a file that is not there.
    const kept = await forgetArtwork(app.pg, ids)
    await artwork.drop(kept.map((rom) => ({ ...rom, platform_id: platform.id })))
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
    const library = await readLibrary(config, app.library.rules, known, progress)
    if (payload.roms_ids.length > 0) {
      return await scanRoms(app, config, payload.roms_ids, { platformScan, store, progress, signal }, library)
    }
    const scanLibrary = createLibraryScan(app, config, { platformScan, unfinished, progress, signal })
    return await scanLibrary(payload, library, known)
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
