import { mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { dirname, extname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { MediaKind } from '@svc/plugin-sdk'
import PQueue from 'p-queue'
import type { Logger } from 'pino'
import type pg from 'pg'
import sharp from 'sharp'
import type { DownloadingClient } from '../../core/http.ts'
import { openInside } from '../../core/library/safe-path.ts'
import type { Rom, StoredMedia } from '../roms/entities.ts'

/** Decoded pixels a picture may have; more is a bomb, not a cover. */
const PIXELS_MAX = 50_000_000
const DOWNLOADS_AT_ONCE = 8
const LIBRARY_SCHEME = 'file://'
/** A small cover is 20 % of the large one when that is at least this high, else 40 %. */
const TALL_COVER_PIXELS = 1_000
const IMAGE_EXTENSIONS: Record<string, string> = { jpeg: 'jpg', png: 'png', webp: 'webp', gif: 'gif', avif: 'avif' }
const FILM_KINDS: readonly MediaKind[] = ['video', 'video_normalized']

/** A ROM whose artwork may have to be fetched. */
export type ArtworkSubject = Pick<Rom, 'id' | 'url_cover' | 'path_cover_large' | 'path_cover_small' | 'url_screenshots' |
  'path_screenshots' | 'url_manual' | 'path_manual' | 'media'> & { platform_id: number }

interface CoverPaths { large: string | null, small: string | null }
interface Services { http: DownloadingClient, pool: pg.Pool, log: Logger, libraryDir: string, resourcesDir: string }

const acceptsImage = (type: string) => type.startsWith('image/') || type === '' || type === 'application/octet-stream'
const acceptsManual = (type: string) => ['application/pdf', 'application/force-download', 'application/octet-stream', '']
  .includes(type)
const acceptsFilm = (type: string) => type.startsWith('video/') || type === 'application/octet-stream'

/** Fetches covers, screenshots, manuals and other media into the resources folder and notes their paths. */
export function createArtwork (services: Services, signal: AbortSignal) {
  const { http, pool, log, libraryDir, resourcesDir } = services
  const queue = new PQueue({ concurrency: DOWNLOADS_AT_ONCE })

  async function copyFromLibrary (path: string, target: string): Promise<void> {
    const source = await openInside(libraryDir, path)
    const copy = await open(target, 'w')
    await pipeline(source.createReadStream(), copy.createWriteStream(), { signal })
  }

  /** Brings a file to `<resources>/<path>.part` and hands it on; nothing half-written is ever under its final name. */
  async function fetch (url: string, path: string, acceptType: (type: string) => boolean): Promise<string> {
    const part = join(resourcesDir, `${path}.part`)
    await mkdir(dirname(part), { recursive: true })
    if (url.startsWith(LIBRARY_SCHEME)) await copyFromLibrary(url.slice(LIBRARY_SCHEME.length), part)
    else await http.download(url, { toFile: part, acceptType, signal })
    return part
  }

  async function settle (part: string, path: string): Promise<string> {
    await rename(part, join(resourcesDir, path))
    return path
  }

  /** The extension that fits the content; a file that is no picture is refused, whatever it was called. */
  async function readImage (file: string): Promise<{ extension: string, height: number }> {
    const { format, height } = await sharp(file, { limitInputPixels: PIXELS_MAX }).metadata()
    const extension = IMAGE_EXTENSIONS[format === 'heif' ? 'avif' : format]
    if (extension === undefined) throw new Error(`it is ${format}, not a picture that browsers show`)
    return { extension, height }
  }

  async function fetchImage (url: string, stem: string): Promise<string> {
    const part = await fetch(url, stem, acceptsImage)
    try {
      const { extension } = await readImage(part)
      return await settle(part, `${stem}.${extension}`)
    } catch (err) {
      await rm(part, { force: true })
      throw err
    }
  }

  async function makeSmallCover (large: string, stem: string): Promise<string> {
    const source = join(resourcesDir, large)
    const { height } = await readImage(source)
    const path = `${stem}${extname(large)}`
    const part = join(resourcesDir, `${path}.part`)
    const scale = height >= TALL_COVER_PIXELS ? 0.2 : 0.4
    const format = extname(large) === '.jpg' ? 'jpeg' : extname(large).slice(1) as 'png' | 'webp' | 'gif' | 'avif'
    await sharp(source, { limitInputPixels: PIXELS_MAX }).resize({ height: Math.max(1, Math.round(height * scale)) })
      .toFormat(format).toFile(part)
    return await settle(part, path)
  }

  async function isThere (path: string | null | undefined): Promise<boolean> {
    if (path === null || path === undefined || path === '') return false
    return await stat(join(resourcesDir, path)).then(() => true, () => false)
  }

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
    const url = subject.url_cover
    if (url === null || url === undefined || url === '' || await isThere(kept.large)) return kept
    return await attempt<CoverPaths>(subject, 'cover', async () => {
      const large = await fetchImage(url, `${folder}/cover/big`)
      return { large, small: await makeSmallCover(large, `${folder}/cover/small`) }
    }, { large: null, small: null })
  }

  async function fetchScreenshots (subject: ArtworkSubject, folder: string): Promise<string[]> {
    const { url_screenshots: urls, path_screenshots: kept } = subject
    if (kept.length > 0 && (await Promise.all(kept.map(isThere))).every(Boolean)) return kept
    const paths = await Promise.all(urls.map((url, index) =>
      attempt(subject, 'screenshot', () => fetchImage(url, `${folder}/screenshots/${index}`), null)))
    return paths.filter((path) => path !== null)
  }

  async function fetchManual (subject: ArtworkSubject, folder: string): Promise<string | null> {
    const url = subject.url_manual
    if (url === null || url === undefined || url === '' || await isThere(subject.path_manual)) return subject.path_manual ?? null
    return await attempt(subject, 'manual', async () => {
      const path = `${folder}/manual/${subject.id}.pdf`
      return await settle(await fetch(url, path, acceptsManual), path)
    }, null)
  }

  async function fetchMedia (subject: ArtworkSubject, folder: string): Promise<Rom['media']> {
    const entries = Object.entries(subject.media) as [MediaKind, StoredMedia][]
    const fetched = await Promise.all(entries.map(async ([kind, { url, path }]) => {
      if (await isThere(path)) return [kind, { url, path }] as const
      const got = await attempt(subject, kind, async () => {
        if (!FILM_KINDS.includes(kind)) return await fetchImage(url, `${folder}/${kind}/${kind}`)
        const film = `${folder}/${kind}/${kind}.mp4`
        return await settle(await fetch(url, film, acceptsFilm), film)
      }, null)
      return [kind, { url, path: got }] as const
    }))
    return Object.fromEntries(fetched)
  }

  async function fetchAll (subject: ArtworkSubject): Promise<void> {
    const folder = `roms/${subject.platform_id}/${subject.id}`
    const [cover, screenshots, manual, media] = await Promise.all([
      fetchCover(subject, folder), fetchScreenshots(subject, folder), fetchManual(subject, folder), fetchMedia(subject, folder)
    ])
    await pool.query(`update roms set path_cover_large = $2, path_cover_small = $3, path_screenshots = $4, path_manual = $5,
      media = $6::jsonb, updated_at = now() where id = $1`,
    [subject.id, cover.large, cover.small, screenshots, manual, JSON.stringify(media)])
  }

  return {
    /** Resolves when the ROM's artwork is there or was given up. */
    fetch: (subject: ArtworkSubject) => queue.add(() => fetchAll(subject), { signal }),
    /** Forgets and deletes what is stored of some ROMs. */
    async drop (roms: readonly { id: number, platform_id: number }[]): Promise<void> {
      for (const { id, platform_id: platform } of roms) {
        await rm(join(resourcesDir, 'roms', String(platform), String(id)), { recursive: true, force: true })
      }
    },
    waiting: () => queue.size + queue.pending
  }
}
export type Artwork = ReturnType<typeof createArtwork>
