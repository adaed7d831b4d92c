import PQueue from 'p-queue'
import type { Logger } from 'pino'
import type { Db } from '../../core/database/db.ts'
import { createFastWriter } from '../../core/store/store-writer.ts'
import type { Store } from '../../core/store/store.ts'
import type { StoredMedia } from '../roms/entities.ts'
import { createAttempts } from './attempt-artwork.ts'
import { createArtworkFailures } from './failures.ts'
import { type ArtworkSubject, fetchArtwork, isSet } from './fetch-artwork.ts'
import { createArtworkFiles } from './files.ts'
import type { Origins } from './origins.ts'
import { selectFolderNames, updateArtwork } from './rows.ts'
import { createStaging } from './staging.ts'
import type { ScanProblem } from '../matching/scan-types.ts'

const DOWNLOADS_AT_ONCE = 8

interface Services {
  origins: Origins
  db: Db
  log: Logger
  store: Store
  /** The resources folder of this machine, where downloads wait until they are complete. */
  resourcesDir: string
  /** Writes a change of the ROMs of a platform folder. */
  write: (folder: { id: number, library_id: number }, work: (db: Db) => Promise<boolean>) => Promise<boolean>
  /** The id of the scan's task. */
  task: string
  /** Names a worker that helps with a scan; null for the worker of the task. */
  helper?: string | null
}

/** Returns the folder of a ROM's artwork in the resources folder. */
export const artworkFolder = (platformId: number, romId: number) => `roms/${platformId}/${romId}`

/** Lists the addresses of all artwork of a ROM. */
function listUrls (subject: ArtworkSubject): string[] {
  const media = Object.values(subject.media) as StoredMedia[]
  const { url_cover: cover, url_manual: manual, url_screenshots: screenshots, url_badges: badges } = subject
  return [cover, manual, ...screenshots, ...badges, ...media.map(({ url }) => url)].filter(isSet)
}

/** Downloads covers, screenshots, manuals and other media into the store and stores their paths. */
export function createArtwork (services: Services, signal: AbortSignal) {
  const { origins, db, write, log, store, resourcesDir, task, helper = null } = services
  const staging = createStaging(db, resourcesDir, task, helper)
  const files = createArtworkFiles({ origins, store, staging, writer: createFastWriter(store) })
  const queues = new Map<string, PQueue>()
  const failures = createArtworkFailures(resourcesDir)
  const downloads = { files, attempt: createAttempts(failures, log, signal) }

  /**
   * Returns the queue for the rate limits of these providers. ROMs with the same providers share a queue and do not
   * delay others.
   */
  function queueOf (urls: readonly string[], providers: ArtworkSubject['providers']): PQueue {
    const name = origins.listOwnDownloaders(urls.map((url) => providers.get(url) ?? null)).join()
    const queue = queues.get(name) ?? new PQueue({ concurrency: DOWNLOADS_AT_ONCE })
    queues.set(name, queue)
    return queue
  }

  return {
    /**
     * Downloads the artwork of a ROM, and resolves when all of it is stored or failed.
     *
     * @returns true if anything changed
     */
    async fetch (subject: ArtworkSubject): Promise<boolean> {
      const urls = listUrls(subject)
      if (urls.length === 0) return false
      const { id, platform_id: platformId, library_id: library } = subject
      const work = async () => {
        const stored = await fetchArtwork(downloads, subject, artworkFolder(platformId, id))
        return await write({ id: platformId, library_id: library }, (db) => updateArtwork(db, subject, stored))
      }
      return await queueOf(urls, subject.providers).add(work, { signal })
    },

    /** Deletes unfinished files of killed scans. Called before the first download. */
    clear: staging.clear,

    /** Deletes the staging folder. Called after the last download. */
    close: staging.remove,

    /** Lists the artwork that could not be downloaded or stored, one problem for each platform and reason. */
    async problems (): Promise<ScanProblem[]> {
      const names = await selectFolderNames(db, failures.platformIds)
      return failures.list((id) => names.get(id) ?? String(id)).map((problem) => ({ ...problem, path: '' }))
    },

    /** Deletes single files. */
    remove: files.remove,

    /** Deletes the stored artwork of some ROMs, except some paths. */
    async deleteOf (roms: readonly { id: number, platform_id: number, kept: readonly string[] }[]): Promise<void> {
      for (const { id, platform_id: platformId, kept: keptPaths } of roms) {
        await files.deleteExcept(artworkFolder(platformId, id), keptPaths)
      }
    }
  }
}
export type Artwork = ReturnType<typeof createArtwork>
