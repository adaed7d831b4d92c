import { createArtwork } from '../../artwork/artwork.ts'
import { createArtworkClient } from '../../artwork/client.ts'
import { createOrigins } from '../../artwork/origins.ts'
import { clearArtwork } from '../../artwork/rows.ts'
import { createManyLstats } from '../../entries/lstat-many.ts'
import { createMovedRoms } from '../disk/moved-roms.ts'
import { createPlatformFolders } from '../disk/platform-folder.ts'
import { createDecideEntries } from '../disk/decide-entries.ts'
import { createEntryHasher } from '../../hashing/entry-hasher.ts'
import type { HasherLease } from '../../hashing/shared-hasher.ts'
import { createIdentification } from '../identify/identify-roms.ts'
import { createRomLookup } from '../../matching/rom-lookup.ts'
import { createMatchWriter } from '../identify/store-matches.ts'
import { readPriorities } from '../../matching/merge-matches.ts'
import { createIdentifyRom } from '../identify/identify-rom.ts'
import type { ScannedPlatform } from '../../matching/sdk-rom.ts'
import { createTitles } from '../../matching/titles.ts'
import { writeMisses } from '../../matching/explanation-rows.ts'
import { writeMatches } from '../../matching/match-rows.ts'
import { resourcesDirOf } from '../../resources/resource-key.ts'
import { createRebuild } from '../store/rebuild-roms.ts'
import { createTableStatistics } from '../store/statistics-rows.ts'
import { createStoreBatch } from '../store/store-batch.ts'
import { createPlatformScan } from './scan-platform.ts'
import type { ScanContext } from './scan-context.ts'
import type { UnfinishedRoms } from './unfinished-rows.ts'

/** Fetches the artwork of a scan, and drops artwork of ROMs that are scanned from scratch. */
export function createScanArtwork (shared: ScanContext) {
  const { app, config, log, signal, scope, task, role, parts, libraries } = shared
  const http = createArtworkClient(app, config, log)
  const artwork = createArtwork({
    origins: createOrigins({
      http: http.withSignal(signal), findLibrary: libraries.findLibrary, providers: app.registry.providers,
      breakerOf: app.circuits.of, scope
    }),
    db: app.db,
    write: (folder, work) => parts.write([folder], work),
    log,
    store: app.store,
    resourcesDir: resourcesDirOf(config),
    task,
    helper: role === 'helper' ? parts.holder.token : null
  }, signal)
  return {
    ...artwork,

    async deleteOf (ids: readonly number[], platform: ScannedPlatform): Promise<void> {
      // Clear the rows first: if this process dies in between, no row names a file that does not exist.
      const remainingPaths = await parts.write([platform], (db) => clearArtwork(db, ids))
      await artwork.deleteOf(remainingPaths.map((rom) => ({ ...rom, platform_id: platform.id })))
    },

    async close (): Promise<void> {
      await artwork.close().catch((err: unknown) => { log.warn({ err }, 'half-written artwork could not be deleted') })
      await http.close()
    }
  }
}
export type ScanArtwork = ReturnType<typeof createScanArtwork>

/** Creates the part of a scan that looks ROMs up at the providers and stores their matches. */
export function createScanIdentification (shared: ScanContext, artwork: ScanArtwork) {
  const { app, config, payload, libraries, scope, log, signal, parts, announcer, rethrowOrAbort } = shared
  const { providers } = app.registry
  const prefersOwnRegions = config.scan.priority.region_mode === 'prefer_rom_tags'
  const romLookup = createRomLookup(
    { providers, breakerOf: app.circuits.of, scope, log, prefersOwnRegions }, payload.apis ?? [...providers.keys()])
  const choice = { type: payload.type, selected: romLookup.keys }
  const identification = createIdentification({
    choice,
    db: app.db,
    workers: config.scan.workers,
    titles: createTitles(providers, scope, log),
    identifyRom: createIdentifyRom({
      registry: app.registry, config, choice, romLookup, parts, scopeOf: libraries.scopeOf,
      priorities: readPriorities(config, providers)
    }),
    matchWriter: createMatchWriter({
      type: choice.type, providers, parts, announcer, log, signal,
      artwork: { fetch: (subject) => artwork.fetch(subject).catch(rethrowOrAbort) },
      store: {
        writeMatches: (writes, platforms) =>
          parts.write(platforms, (db) => writeMatches(db, writes)).catch(rethrowOrAbort),
        writeMisses: (misses, platforms) =>
          parts.write(platforms, (db) => writeMisses(db, misses)).catch(rethrowOrAbort)
      }
    }),
    parts,
    signal
  })
  return { ...identification, choice, complaints: romLookup.complaints }
}
export type ScanIdentification = ReturnType<typeof createScanIdentification>

/**
 * Creates the part of a scan that reads platform folders, stores their entries and passes on the ROMs that are due for
 * a lookup.
 */
export function createDiskScan (
  shared: ScanContext, lease: HasherLease, unfinished: UnfinishedRoms,
  { artwork, identification }: { artwork: ScanArtwork, identification: ScanIdentification }
) {
  const { app, config, log, signal, parts, announcer, libraries: { findLibraryDir: dirOf } } = shared
  const { choice } = identification
  const hasher = createEntryHasher(lease.hasher, config, signal)
  const { db } = app
  const statistics = createTableStatistics(db, log)
  const lstats = createManyLstats()
  const platformScan = createPlatformScan({
    folders: createPlatformFolders(
      { db, parts, findLibraryDir: dirOf, rules: app.library.rules, lstats }
    ),
    decideEntries: createDecideEntries({ choice, hasher, db }),
    storeBatch: createStoreBatch({
      rebuild: createRebuild({
        choice, statistics, parts, announcer, dropArtwork: artwork.deleteOf,
        removeArtwork: artwork.remove,
        moves: createMovedRoms({ db, findLibraryDir: dirOf, store: app.store })
      }),
      identify: identification.add,
      parts, announcer, signal
    }),
    choice, hasher, db, unfinished, parts, signal
  })
  return {
    platformScan,
    prepareHashing: hasher.prepare,
    /** Announces how many entries are about to be read. */
    expect: lstats.expect,
    async close (): Promise<void> {
      lease.release()
      await lstats.close()
      await statistics.finish()
    }
  }
}
