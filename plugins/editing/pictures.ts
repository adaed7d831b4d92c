import { randomUUID } from 'node:crypto'
import { basename } from 'node:path'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import type { Config } from '../../core/config/config.ts'
import { badRequest } from '../../core/errors.ts'
import { AddressRefusedError } from '../../core/http/addresses.ts'
import type { CallScope } from '../../core/loader/calls/call-scope.ts'
import { createSyncedWriter } from '../../core/store/store-writer.ts'
import { artworkFolder, createArtwork } from '../artwork/artwork.ts'
import { createArtworkClient } from '../artwork/client.ts'
import { ArtworkStoreError } from '../artwork/failures.ts'
import { createArtworkFiles } from '../artwork/files.ts'
import { createOrigins, findProvidersOfUrls, listBadges } from '../artwork/origins.ts'
import { EDIT_PREFIX, createStaging } from '../artwork/staging.ts'
import type { ProviderMatches } from '../matching/matches.ts'
import type { RomForLookup } from '../matching/rom-for-lookup.ts'
import { resourceKey, resourcesDirOf } from '../resources/resource-key.ts'

export interface CoverPaths { large: string | null, small: string | null }

const FETCHABLE = /^https?:\/\//i
const OWN_PREFIX = 'own-'

/** A ROM whose media are downloaded, with its current matches. */
interface PictureSubject { rom: RomForLookup, matches: ProviderMatches, scope: CallScope }

interface ChosenPicture { what: 'cover' | 'manual', url: string, provider: string | null }

/**
 * Runs a download. If a provider is down, the next scan downloads its picture. Any other address that fails is refused.
 */
async function downloadOrRefuse<T> (
  { what, url, provider }: ChosenPicture, { rom, scope }: PictureSubject, log: Logger, work: () => Promise<T>
): Promise<T | null> {
  if (provider === null && !FETCHABLE.test(url)) {
    throw badRequest(`The ${what} '${url.slice(0, 50)}' is not a web address; give one that begins with https://`)
  }
  try {
    return await work()
  } catch (err) {
    scope.signal.throwIfAborted()
    if (err instanceof ArtworkStoreError) throw err.cause
    if (provider === null || err instanceof AddressRefusedError) {
      throw badRequest(`The ${what} '${url.slice(0, 300)}' cannot be fetched: ${err instanceof Error ? err.message : String(err)}`)
    }
    log.warn({ err, rom: rom.rom.id, url }, `the chosen ${what} could not be fetched; the next scan tries again`)
    return null
  }
}

function coverStems (folder: string) {
  const name = `${OWN_PREFIX}${randomUUID()}`
  return { large: `${folder}/cover/${name}`, small: `${folder}/cover/${name}-small` }
}

/**
 * Downloads the media that a person chose for one ROM. Scans use other file names, so they never replace these files.
 */
export function createPictures (app: FastifyInstance, config: Config, subject: PictureSubject) {
  const { rom, matches, scope } = subject
  const { providers } = app.registry
  const log = app.log as Logger
  const { store } = app
  const resourcesDir = resourcesDirOf(config)
  const task = `${EDIT_PREFIX}${randomUUID()}`
  const http = createArtworkClient(app, config, log)
  const origins = createOrigins({
    http: http.withSignal(scope.signal),
    findLibrary: () => rom.library,
    breakerOf: app.circuits.of,
    providers,
    scope
  })
  const files = createArtworkFiles({
    origins, store, staging: createStaging(app.db, resourcesDir, task), writer: createSyncedWriter(store)
  })
  const services = { origins, db: app.db, log, store, resourcesDir, task }
  const artwork = createArtwork({ ...services, write: (_folder, work) => work(app.db) }, scope.signal)
  const providersByUrl = findProvidersOfUrls(matches, providers)
  const folder = artworkFolder(rom.platform.id, rom.rom.id)
  const { library_id: library } = rom.rom

  return {
    publishCover: (part: string): Promise<CoverPaths> => files.publishCover(part, coverStems(folder)),

    downloadCover (url: string): Promise<CoverPaths | null> {
      const provider = providersByUrl.get(url) ?? null
      return downloadOrRefuse({ what: 'cover', url, provider }, subject, log, () =>
        files.downloadCover({ kind: 'cover', url, provider, library_id: library }, coverStems(folder)))
    },

    downloadManual (url: string): Promise<string | null> {
      const provider = providersByUrl.get(url) ?? null
      return downloadOrRefuse({ what: 'manual', url, provider }, subject, log, () =>
        files.downloadDocument({ kind: 'manual', url, provider, library_id: library }, `${folder}/manual/${rom.rom.id}.pdf`))
    },

    /** Deletes covers of people that no row refers to any more. */
    async deleteUnusedCovers (inUse: readonly (string | null | undefined)[]): Promise<void> {
      const usedNames = new Set(inUse.map((path) => basename(path ?? '')))
      const covers = resourceKey(`${folder}/cover`)
      const { objects } = await store.listNames(covers)
      const unused = objects.filter((name) => name.startsWith(OWN_PREFIX) && !usedNames.has(name))
      await store.delete(unused.map((name) => `${covers}/${name}`))
    },

    /** Deletes all files of the ROM, except one path. */
    deleteAll: (remainingPath: string | null): Promise<void> =>
      files.deleteExcept(folder, remainingPath === null ? [] : [remainingPath]),

    /** Downloads all missing media of the row. */
    fetchRest: (now: RomForLookup['rom']): Promise<boolean> => artwork.fetch({
      ...now, platform_id: rom.platform.id, url_badges: listBadges(matches), providers: providersByUrl
    }),

    async close (): Promise<void> {
      await artwork.close()
      await http.close()
    }
  }
}
export type Pictures = ReturnType<typeof createPictures>
