import type { MediaKind } from '@svc/plugin-sdk'
import PQueue from 'p-queue'
import type { Logger } from 'pino'
import type pg from 'pg'
import type { DownloadingClient } from '../../core/http.ts'
import type { Rom, StoredMedia } from '../roms/entities.ts'
import { createArtworkFiles } from './artwork-files.ts'

const DOWNLOADS_AT_ONCE = 8
const FILM_KINDS: readonly MediaKind[] = ['video', 'video_normalized']

/** A ROM whose artwork may have to be fetched. */
export type ArtworkSubject = Pick<Rom, 'id' | 'url_cover' | 'path_cover_large' | 'path_cover_small' | 'url_screenshots' |
  'path_screenshots' | 'url_manual' | 'path_manual' | 'media'> & { platform_id: number }

interface CoverPaths { large: string | null, small: string | null }
interface Services { http: DownloadingClient, pool: pg.Pool, log: Logger, libraryDir: string, resourcesDir: string }

const isSet = (url: string | null | undefined): url is string => typeof url === 'string' && url !== ''

/** The folder of a ROM's artwork in the resources folder. */
export const artworkFolder = (platformId: number, romId: number) => `roms/${platformId}/${romId}`

/** Fetches covers, screenshots, manuals and other media into the resources folder and notes their paths. */
export function createArtwork (services: Services, signal: AbortSignal) {
  const { pool, log } = services
  const files = createArtworkFiles(services, signal)
  const queue = new PQueue({ concurrency: DOWNLOADS_AT_ONCE })

  /** A failed picture costs itself alone. */
  async function attempt<T> (subject: ArtworkSubject, what: string, work: () => Promise<T>, fallback: T): Promise<T> {
    try {
      return await work()
    } catch (err) {
      signal.throwIfAborted()
      log.warn({ err, rom: subject.id, what }, 'artwork could not be fetched')
      return fallback
    }
  }

  async function fetchCover (subject: ArtworkSubject, folder: string): Promise<CoverPaths> {
    const kept = { large: subject.path_cover_large ?? null, small: subject.path_cover_small ?? null }
    const { url_cover: url } = subject
    if (!isSet(url) || await files.isThere(kept.large)) return kept
    const none: CoverPaths = { large: null, small: null }
    return await attempt(subject, 'cover', () => files.bringCover(url, `${folder}/cover`), none)
  }

  async function fetchScreenshots (subject: ArtworkSubject, folder: string): Promise<string[]> {
    const { url_screenshots: urls, path_screenshots: kept } = subject
    if (kept.length > 0 && (await Promise.all(kept.map(files.isThere))).every(Boolean)) return kept
    const paths = await Promise.all(urls.map((url, index) =>
      attempt(subject, 'screenshot', () => files.bringImage(url, `${folder}/screenshots/${index}`), null)))
    return paths.filter((path) => path !== null)
  }

  async function fetchManual (subject: ArtworkSubject, folder: string): Promise<string | null> {
    const { url_manual: url, path_manual: kept } = subject
    if (!isSet(url) || await files.isThere(kept)) return kept ?? null
    return await attempt(subject, 'manual', () => files.bringDocument(url, `${folder}/manual/${subject.id}.pdf`), null)
  }

  async function fetchMedium (
    subject: ArtworkSubject, folder: string, kind: MediaKind, { url, path }: StoredMedia
  ): Promise<StoredMedia> {
    if (await files.isThere(path)) return { url, path }
    const stem = `${folder}/${kind}/${kind}`
    const bring = () => FILM_KINDS.includes(kind) ? files.bringFilm(url, `${stem}.mp4`) : files.bringImage(url, stem)
    return { url, path: await attempt(subject, kind, bring, null) }
  }

  async function fetchMedia (subject: ArtworkSubject, folder: string): Promise<Rom['media']> {
    const entries = Object.entries(subject.media) as [MediaKind, StoredMedia][]
    const fetched = await Promise.all(entries.map(async ([kind, stored]) =>
      [kind, await fetchMedium(subject, folder, kind, stored)] as const))
    return Object.fromEntries(fetched)
  }

  const hasNone = (subject: ArtworkSubject) => !isSet(subject.url_cover) && !isSet(subject.url_manual) &&
    subject.url_screenshots.length === 0 && Object.keys(subject.media).length === 0

  async function fetchAll (subject: ArtworkSubject): Promise<boolean> {
    const folder = artworkFolder(subject.platform_id, subject.id)
    const [cover, screenshots, manual, media] = await Promise.all([
      fetchCover(subject, folder),
      fetchScreenshots(subject, folder),
      fetchManual(subject, folder),
      fetchMedia(subject, folder)
    ])
    const { rowCount } = await pool.query(`update roms set path_cover_large = $2, path_cover_small = $3,
        path_screenshots = $4, path_manual = $5, media = $6::jsonb, updated_at = now()
      where id = $1 and (path_cover_large, path_cover_small, path_screenshots, path_manual, media)
        is distinct from ($2, $3, $4::text[], $5, $6::jsonb)`,
    [subject.id, cover.large, cover.small, screenshots, manual, JSON.stringify(media)])
    return rowCount === 1
  }

  return {
    /**
     * Resolves when the ROM's artwork is there or was given up.
     *
     * @returns whether anything changed
     */
    fetch: (subject: ArtworkSubject): Promise<boolean> =>
      hasNone(subject) ? Promise.resolve(false) : queue.add(() => fetchAll(subject), { signal }),

    /** Deletes what is stored of some ROMs. */
    async drop (roms: readonly { id: number, platform_id: number }[]): Promise<void> {
      for (const { id, platform_id: platformId } of roms) await files.drop(artworkFolder(platformId, id))
    }
  }
}
export type Artwork = ReturnType<typeof createArtwork>
