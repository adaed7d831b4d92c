import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { randomUUID } from 'node:crypto'
import { dirname, join } from 'node:path'
import type { IAudioMetadata } from 'music-metadata'
import { openImage } from '../resources/image.ts'
import type { TrackMeta } from '../roms/entities.ts'

/** Larger files are not read for their tags. */
const PARSED_MAX_BYTES = 512 * 1024 ** 2
const COVER_PIXELS = 600
const TEXT_MAX = 500

const textOf = (value: string | undefined) => value?.replaceAll('\0', '').toWellFormed().trim().slice(0, TEXT_MAX) || null

function toMeta ({ common, format }: IAudioMetadata): Omit<TrackMeta, 'cover_path'> {
  return {
    title: textOf(common.title),
    artist: textOf(common.artist),
    album: textOf(common.album),
    genre: textOf(common.genre?.join(', ')),
    year: common.year ?? null,
    track: common.track.no,
    disc: common.disk.no,
    duration_seconds: format.duration === undefined ? null : Math.round(format.duration * 1_000) / 1_000,
    has_embedded_cover: (common.picture?.length ?? 0) > 0
  }
}

/** A picture in a file is drawn anew: nothing else that it holds reaches a browser. */
async function storeCover (content: Uint8Array, resourcesDir: string, path: string): Promise<string | null> {
  const target = join(resourcesDir, path)
  const part = join(dirname(target), `.${randomUUID()}.part`)
  try {
    const image = await openImage(content)
    const size = { width: COVER_PIXELS, height: COVER_PIXELS, fit: 'inside', withoutEnlargement: true } as const
    const drawn = await image.resize(size).webp().toBuffer()
    await mkdir(dirname(target), { recursive: true })
    await writeFile(part, drawn)
    await rename(part, target)
    return path
  } catch {
    // Not every file that says it has a picture has one.
    await rm(part, { force: true })
    return null
  }
}

/**
 * What the tags of an audio file say, its cover stored.
 *
 * @param coverPath where in the resources folder the cover goes
 * @returns null when they cannot be read
 */
export async function readTrack (
  file: { path: string, file_size_bytes: number }, resourcesDir: string, coverPath: string
): Promise<TrackMeta | null> {
  if (file.file_size_bytes > PARSED_MAX_BYTES) return null
  const { parseFile } = await import('music-metadata')
  const parsed = await parseFile(file.path, { duration: true }).catch(() => null)
  if (parsed === null) return null
  const [cover] = parsed.common.picture ?? []
  const stored = cover === undefined ? null : await storeCover(cover.data, resourcesDir, coverPath)
  return { ...toMeta(parsed), cover_path: stored }
}
