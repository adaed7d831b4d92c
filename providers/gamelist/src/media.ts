import { posix } from 'node:path'
import type { Context, FileEntry, MediaKind, Rom, RomPlatform } from '@svc/plugin-sdk'
import type { Entry } from './entries.ts'
import { resolveMediaPath } from './paths.ts'

const PICTURE = /\.(?:png|jpe?g|webp|gif|bmp|avif)$/i
const FILM = /\.(?:mp4|m4v|mkv|webm|avi|wmv|mov)$/i
const DOCUMENT = /\.pdf$/i

/**
 * The media of an entry:
 * - the key in `gamelist_metadata`
 * - the elements that name the file, most reliable first
 * - the fallback folder beside the ROMs
 * - the allowed files
 * - the kind of media
 * Batocera and RetroBat name the box in `thumbnail`. In lists of older frontends `image` is a box, in others
 * anything. So the two become covers only if no better picture exists.
 */
export const MEDIA = [
  { key: 'box2d', elements: ['cover'], folder: 'covers', type: PICTURE, kind: 'cover' },
  { key: 'image', elements: ['image'], folder: 'images', type: PICTURE, kind: null },
  { key: 'screenshot', elements: ['screenshot'], folder: 'screenshots', type: PICTURE, kind: 'screenshot' },
  { key: 'title_screen', elements: ['title_screen', 'titleshot'], folder: 'titlescreens', type: PICTURE, kind: 'title_screen' },
  { key: 'box2d_back', elements: ['backcover', 'boxback'], folder: 'backcovers', type: PICTURE, kind: 'box2d_back' },
  { key: 'box3d', elements: ['box3d'], folder: '3dboxes', type: PICTURE, kind: 'box3d' },
  { key: 'physical', elements: ['physicalmedia', 'cartridge'], folder: 'physicalmedia', type: PICTURE, kind: 'physical' },
  { key: 'miximage', elements: ['miximage', 'mix'], folder: 'miximages', type: PICTURE, kind: 'miximage' },
  { key: 'miximage_v2', elements: ['miximage_v2'], folder: 'miximages_v2', type: PICTURE, kind: 'miximage_v2' },
  { key: 'marquee', elements: ['marquee'], folder: 'marquees', type: PICTURE, kind: 'marquee' },
  { key: 'fanart', elements: ['fanart'], folder: 'fanart', type: PICTURE, kind: 'fanart' },
  { key: 'bezel', elements: ['bezel'], folder: 'bezels', type: PICTURE, kind: 'bezel' },
  { key: 'thumbnail', elements: ['thumbnail'], folder: 'thumbnails', type: PICTURE, kind: null },
  { key: 'video', elements: ['video'], folder: 'videos', type: FILM, kind: 'video' },
  { key: 'manual', elements: ['manual'], folder: 'manuals', type: DOCUMENT, kind: 'manual' }
] as const satisfies readonly {
  key: string, elements: readonly string[], folder: string, type: RegExp, kind: MediaKind | null
}[]
export type MediaKey = typeof MEDIA[number]['key']
type Medium = typeof MEDIA[number]

/** The non-empty files of a folder, by name and by name without the last extension, in name order. */
interface FolderIndex {
  readonly names: ReadonlySet<string>
  readonly byStem: ReadonlyMap<string, readonly string[]>
}

/** Finds the existing media files of an entry, by key, as `file://<path relative to the library>`. */
export async function findMedia (entry: Entry, rom: Rom, ctx: Context): Promise<Map<MediaKey, string>> {
  const urls = new Map<MediaKey, string>()
  for (const medium of MEDIA) {
    const path = await findNamed(medium, entry, rom.platform, ctx) ?? await findBeside(medium, entry, rom, ctx)
    if (path !== undefined) urls.set(medium.key, `file://${path}`)
  }
  return urls
}

async function findNamed ({ elements, type }: Medium, entry: Entry, platform: RomPlatform, ctx: Context) {
  for (const element of elements) {
    const path = resolveMediaPath(platform.fs_path, entry.text.get(element) ?? '')
    if (path === undefined || !type.test(path)) continue
    const { dir, base } = posix.parse(path)
    const { names } = await indexFolder(dir, ctx)
    if (names.has(base)) return path
  }
  return undefined
}

/** Finds a file in ES-DE's media folders, which repeat the ROMs' subfolders. Media of a folder have its whole name. */
async function findBeside (
  { folder, type }: Medium, entry: Entry, { platform, fs_name: romName, fs_extension: extension }: Rom, ctx: Context
) {
  const { base, name: stem, dir } = posix.parse(entry.path)
  const names = extension === '' && base === romName ? [base] : [stem, base]
  for (
    const mediaFolder of new Set([posix.join(platform.fs_path, folder, dir), posix.join(platform.fs_path, folder)])
  ) {
    const { byStem } = await indexFolder(mediaFolder, ctx)
    for (const name of names) {
      const file = byStem.get(name)?.find((candidate) => type.test(candidate))
      if (file !== undefined) return posix.join(mediaFolder, file)
    }
  }
  return undefined
}

function indexFolder (path: string, ctx: Context): Promise<FolderIndex> {
  return ctx.memo(`folder ${path}`, async () => {
    try {
      return createFolderIndex(await ctx.files.list(path))
    } catch (err) {
      ctx.signal.throwIfAborted()
      ctx.log.warn({ err, folder: path }, 'folder cannot be listed; its media are skipped')
      return createFolderIndex([])
    }
  })
}

function createFolderIndex (entries: readonly FileEntry[]): FolderIndex {
  const names = new Set<string>()
  const byStem = new Map<string, string[]>()
  for (const { name, kind, size } of entries) {
    if (kind !== 'file' || size === 0) continue
    names.add(name)
    const stem = posix.parse(name).name
    byStem.set(stem, [...byStem.get(stem) ?? [], name])
  }
  return { names, byStem }
}
