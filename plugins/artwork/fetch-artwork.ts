import { basename } from 'node:path'
import type { MediaKind } from '@svc/plugin-sdk'
import PQueue from 'p-queue'
import { BADGE_FOLDER, badgeStem } from '../resources/badges.ts'
import type { Rom, StoredMedia } from '../roms/entities.ts'
import type { AttemptArtwork } from './attempt-artwork.ts'
import type { ArtworkFiles, IsPresent } from './files.ts'
import type { ArtworkFile } from './origins.ts'
import type { StoredArtwork } from './rows.ts'

/** Concurrent downloads of badges per ROM. */
const BADGES_AT_ONCE = 4
export const FILM_KINDS: readonly MediaKind[] = ['video', 'video_normalized']

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

/** False for a missing or empty address. */
export const isSet = (url: string | null | undefined): url is string => typeof url === 'string' && url !== ''

const coverStems = (folder: string) => ({ large: `${folder}/cover/big`, small: `${folder}/cover/small` })

const toPiece = ({ providers, library_id: library }: ArtworkSubject, kind: MediaKind, url: string): ArtworkFile =>
  ({ kind, url, provider: providers.get(url) ?? null, library_id: library })

/** Downloads files for a ROM, each by an attempt that may fail alone. */
interface Downloads { files: ArtworkFiles, attempt: AttemptArtwork, isPresent: IsPresent }

async function fetchCover (downloads: Downloads, subject: ArtworkSubject, folder: string): Promise<CoverPaths> {
  const stored = { large: subject.path_cover_large ?? null, small: subject.path_cover_small ?? null }
  const { url_cover: url } = subject
  if (!isSet(url) || await downloads.isPresent(stored.large)) return stored
  const none: CoverPaths = { large: null, small: null }
  return await downloads.attempt(subject, 'cover', () => downloads.files.downloadCover(toPiece(subject, 'cover', url), coverStems(folder)), none)
}

async function fetchScreenshots (downloads: Downloads, subject: ArtworkSubject, folder: string): Promise<string[]> {
  const { url_screenshots: urls, path_screenshots: stored } = subject
  if (stored.length > 0 && (await Promise.all(stored.map(downloads.isPresent))).every(Boolean)) return stored
  const paths = await Promise.all(urls.map((url, index) =>
    downloads.attempt(subject, 'screenshot', () =>
      downloads.files.downloadImage(toPiece(subject, 'screenshot', url), `${folder}/screenshots/${index}`), null)))
  return paths.filter((path) => path !== null)
}

async function fetchManual (downloads: Downloads, subject: ArtworkSubject, folder: string): Promise<string | null> {
  const { url_manual: url, path_manual: stored } = subject
  if (!isSet(url) || await downloads.isPresent(stored)) return stored ?? null
  const piece = toPiece(subject, 'manual', url)
  return await downloads.attempt(subject, 'manual', () => downloads.files.downloadDocument(piece, `${folder}/manual/${subject.id}.pdf`), null)
}

async function fetchMedium (
  downloads: Downloads, subject: ArtworkSubject, folder: string, [kind, { url, path }]: [MediaKind, StoredMedia]
): Promise<StoredMedia> {
  if (await downloads.isPresent(path)) return { url, path }
  const stem = `${folder}/${kind}/${kind}`
  const piece = toPiece(subject, kind, url)
  const download = () => FILM_KINDS.includes(kind) ? downloads.files.downloadFilm(piece, `${stem}.mp4`) : downloads.files.downloadImage(piece, stem)
  return { url, path: await downloads.attempt(subject, kind, download, null) }
}

async function fetchMedia (downloads: Downloads, subject: ArtworkSubject, folder: string): Promise<Rom['media']> {
  const entries = Object.entries(subject.media) as [MediaKind, StoredMedia][]
  const fetched = await Promise.all(entries.map(async (entry) =>
    [entry[0], await fetchMedium(downloads, subject, folder, entry)] as const))
  return Object.fromEntries(fetched)
}

async function fetchBadge (
  downloads: Downloads, subject: ArtworkSubject, folder: string, url: string
): Promise<string | null> {
  const stem = badgeStem(url)
  if (stem === null) return null
  const stored = subject.badges.find((name) => badgeStem(name) === stem)
  if (stored !== undefined && await downloads.isPresent(`${folder}/${stored}`)) return stored
  const piece = toPiece(subject, 'badge', url)
  const path = await downloads.attempt(subject, 'badge', () => downloads.files.downloadImage(piece, `${folder}/${stem}`), null)
  return path === null ? null : basename(path)
}

async function fetchBadges (downloads: Downloads, subject: ArtworkSubject, folder: string): Promise<string[]> {
  const queue = new PQueue({ concurrency: BADGES_AT_ONCE })
  const names = await queue.addAll(subject.url_badges.map((url) => () => fetchBadge(downloads, subject, folder, url)))
  return names.filter((name) => name !== null)
}

/**
 * Downloads the missing artwork of a ROM.
 *
 * @param folder the folder of the ROM's artwork in the resources folder
 * @returns the paths of all artwork of the ROM
 */
export async function fetchArtwork (
  { files, attempt }: Omit<Downloads, 'isPresent'>, subject: ArtworkSubject, folder: string
): Promise<StoredArtwork> {
  const downloads: Downloads = { files, attempt, isPresent: files.checkPresence(folder) }
  const [cover, screenshots, manual, media, badges] = await Promise.all([
    fetchCover(downloads, subject, folder),
    fetchScreenshots(downloads, subject, folder),
    fetchManual(downloads, subject, folder),
    fetchMedia(downloads, subject, folder),
    fetchBadges(downloads, subject, `${folder}/${BADGE_FOLDER}`)
  ])
  return {
    path_cover_large: cover.large,
    path_cover_small: cover.small,
    path_screenshots: screenshots,
    path_manual: manual,
    media,
    badges
  }
}
