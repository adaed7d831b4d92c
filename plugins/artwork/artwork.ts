import { basename } from 'node:path'
import type { MediaKind } from '@svc/plugin-sdk'
import PQueue from 'p-queue'
import type { Logger } from 'pino'
import type { Db } from '../../core/database/db.ts'
import { BADGE_FOLDER, badgeStem } from '../resources/badges.ts'
import type { Rom, StoredMedia } from '../roms/entities.ts'
import { type ArtworkStoreError, createArtworkFailures, isDiskFull } from './failures.ts'
import { createArtworkFiles } from './files.ts'
import { type Origins, type ArtworkFile, PlaceholderError } from './origins.ts'
import { selectFolderNames, updateArtwork } from './rows.ts'
import { createStaging } from './staging.ts'
import type { ScanProblem } from '../matching/scan-types.ts'

const DOWNLOADS_AT_ONCE = 8
/** Pause after a write fails on a full disk, because somebody may free space meanwhile. */
const FULL_PAUSE_MS = 30_000
/** Concurrent downloads of badges per ROM. */
const BADGES_AT_ONCE = 4
const FILM_KINDS: readonly MediaKind[] = ['video', 'video_normalized']

/** A ROM whose artwork may be missing. */
export type ArtworkSubject = Pick<Rom, 'id' | 'url_cover' | 'path_cover_large' | 'path_cover_small' | 'url_screenshots' |
  'path_screenshots' | 'url_manual' | 'path_manual' | 'media' | 'badges' | 'edits'> & {
    library_id: number
    platform_id: number
    url_badges: readonly string[]
    /** The key of the provider of each address. */
    providers: ReadonlyMap<string, string>
  }

interface CoverPaths { large: string | null, small: string | null }
interface Services {
  origins: Origins
  db: Db
  log: Logger
  resourcesDir: string
  /** The id of the scan's task. */
  task: string
}

const isSet = (url: string | null | undefined): url is string => typeof url === 'string' && url !== ''

/** Returns the folder of a ROM's artwork in the resources folder. */
export const artworkFolder = (platformId: number, romId: number) => `roms/${platformId}/${romId}`

const coverStems = (folder: string) => ({ large: `${folder}/cover/big`, small: `${folder}/cover/small` })

/** Downloads covers, screenshots, manuals and other media into the resources folder and stores their paths. */
export function createArtwork (services: Services, signal: AbortSignal) {
  const { origins, db, log, resourcesDir, task } = services
  const staging = createStaging(db, resourcesDir, task)
  const files = createArtworkFiles({ origins, resourcesDir, staging })
  const queues = new Map<string, PQueue>()
  const failures = createArtworkFailures(resourcesDir)
  let full: { until: number, err: ArtworkStoreError } | null = null

  function checkSpace (): void {
    if (full !== null && Date.now() < full.until) throw full.err
    full = null
  }

  function reportFailure (subject: ArtworkSubject, kind: string, err: unknown): void {
    failures.add(subject.platform_id, err)
    if (full !== null && err === full.err) return
    log.warn({ err, rom: subject.id, what: kind }, 'artwork could not be fetched and stored')
    if (isDiskFull(err)) full = { until: Date.now() + FULL_PAUSE_MS, err }
  }

  /** Runs work for one picture; a failure affects only this picture. */
  async function attempt<T> (subject: ArtworkSubject, kind: string, work: () => Promise<T>, fallback: T): Promise<T> {
    try {
      checkSpace()
      return await work()
    } catch (err) {
      signal.throwIfAborted()
      if (!(err instanceof PlaceholderError)) reportFailure(subject, kind, err)
      return fallback
    }
  }

  const toPiece = ({ providers, library_id: library }: ArtworkSubject, kind: MediaKind, url: string): ArtworkFile =>
    ({ kind, url, provider: providers.get(url) ?? null, library_id: library })

  async function fetchCover (subject: ArtworkSubject, folder: string): Promise<CoverPaths> {
    const stored = { large: subject.path_cover_large ?? null, small: subject.path_cover_small ?? null }
    const { url_cover: url } = subject
    if (!isSet(url) || await files.isPresent(stored.large)) return stored
    const none: CoverPaths = { large: null, small: null }
    return await attempt(subject, 'cover', () => files.downloadCover(toPiece(subject, 'cover', url), coverStems(folder)), none)
  }

  async function fetchScreenshots (subject: ArtworkSubject, folder: string): Promise<string[]> {
    const { url_screenshots: urls, path_screenshots: stored } = subject
    if (stored.length > 0 && (await Promise.all(stored.map(files.isPresent))).every(Boolean)) return stored
    const paths = await Promise.all(urls.map((url, index) =>
      attempt(subject, 'screenshot', () =>
        files.downloadImage(toPiece(subject, 'screenshot', url), `${folder}/screenshots/${index}`), null)))
    return paths.filter((path) => path !== null)
  }

  async function fetchManual (subject: ArtworkSubject, folder: string): Promise<string | null> {
    const { url_manual: url, path_manual: stored } = subject
    if (!isSet(url) || await files.isPresent(stored)) return stored ?? null
    const piece = toPiece(subject, 'manual', url)
    return await attempt(subject, 'manual', () => files.downloadDocument(piece, `${folder}/manual/${subject.id}.pdf`), null)
  }

  async function fetchMedium (
    subject: ArtworkSubject, folder: string, kind: MediaKind, { url, path }: StoredMedia
  ): Promise<StoredMedia> {
    if (await files.isPresent(path)) return { url, path }
    const stem = `${folder}/${kind}/${kind}`
    const piece = toPiece(subject, kind, url)
    const download = () => FILM_KINDS.includes(kind) ? files.downloadFilm(piece, `${stem}.mp4`) : files.downloadImage(piece, stem)
    return { url, path: await attempt(subject, kind, download, null) }
  }

  async function fetchMedia (subject: ArtworkSubject, folder: string): Promise<Rom['media']> {
    const entries = Object.entries(subject.media) as [MediaKind, StoredMedia][]
    const fetched = await Promise.all(entries.map(async ([kind, stored]) =>
      [kind, await fetchMedium(subject, folder, kind, stored)] as const))
    return Object.fromEntries(fetched)
  }

  async function fetchBadge (subject: ArtworkSubject, folder: string, url: string): Promise<string | null> {
    const stem = badgeStem(url)
    if (stem === null) return null
    const stored = subject.badges.find((name) => badgeStem(name) === stem)
    if (stored !== undefined && await files.isPresent(`${folder}/${stored}`)) return stored
    const piece = toPiece(subject, 'badge', url)
    const path = await attempt(subject, 'badge', () => files.downloadImage(piece, `${folder}/${stem}`), null)
    return path === null ? null : basename(path)
  }

  async function fetchBadges (subject: ArtworkSubject, folder: string): Promise<string[]> {
    const queue = new PQueue({ concurrency: BADGES_AT_ONCE })
    const names = await queue.addAll(subject.url_badges.map((url) => () => fetchBadge(subject, folder, url)))
    return names.filter((name) => name !== null)
  }

  function listUrls (subject: ArtworkSubject): string[] {
    const media = Object.values(subject.media) as StoredMedia[]
    const { url_cover: cover, url_manual: manual, url_screenshots: screenshots, url_badges: badges } = subject
    return [cover, manual, ...screenshots, ...badges, ...media.map(({ url }) => url)].filter(isSet)
  }

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

  async function fetchAll (subject: ArtworkSubject): Promise<boolean> {
    const folder = artworkFolder(subject.platform_id, subject.id)
    const [cover, screenshots, manual, media, badges] = await Promise.all([
      fetchCover(subject, folder),
      fetchScreenshots(subject, folder),
      fetchManual(subject, folder),
      fetchMedia(subject, folder),
      fetchBadges(subject, `${folder}/${BADGE_FOLDER}`)
    ])
    return await updateArtwork(db, subject, {
      path_cover_large: cover.large,
      path_cover_small: cover.small,
      path_screenshots: screenshots,
      path_manual: manual,
      media,
      badges
    })
  }

  return {
    /**
     * Downloads the artwork of a ROM, and resolves when all of it is stored or failed.
     *
     * @returns true if anything changed
     */
    async fetch (subject: ArtworkSubject): Promise<boolean> {
      const urls = listUrls(subject)
      return urls.length > 0 && await queueOf(urls, subject.providers).add(() => fetchAll(subject), { signal })
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
