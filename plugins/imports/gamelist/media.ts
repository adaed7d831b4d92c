import { posix } from 'node:path'
import { isNothingThere, openInside } from '../../../core/files/safe-path.ts'
import type { Media } from '../contract.ts'
import { normalizePath } from './entries.ts'
import { type Folders, listNames } from './folders.ts'
import type { Game } from './systems.ts'

const PICTURE = /\.(?:png|jpe?g|webp|gif|bmp|avif)$/i
const FILM = /\.(?:mp4|m4v|mkv|webm|avi|wmv|mov)$/i
const DOCUMENT = /\.pdf$/i

/** Kinds of media, with the elements that name a file, best first, and ES-DE's folder. */
const KINDS = [
  // Batocera and RetroBat name the box in `thumbnail`.
  { kind: 'cover', elements: ['cover', 'thumbnail', 'image'], folder: 'covers', type: PICTURE },
  { kind: 'screenshot', elements: ['screenshot'], folder: 'screenshots', type: PICTURE },
  { kind: 'title_screen', elements: ['titleshot'], folder: 'titlescreens', type: PICTURE },
  { kind: 'box2d_back', elements: ['boxback'], folder: 'backcovers', type: PICTURE },
  { kind: 'box3d', elements: ['box3d'], folder: '3dboxes', type: PICTURE },
  { kind: 'physical', elements: ['cartridge'], folder: 'physicalmedia', type: PICTURE },
  { kind: 'miximage', elements: ['mix'], folder: 'miximages', type: PICTURE },
  { kind: 'marquee', elements: ['marquee'], folder: 'marquees', type: PICTURE },
  { kind: 'fanart', elements: ['fanart'], folder: 'fanart', type: PICTURE },
  { kind: 'bezel', elements: ['bezel'], folder: 'bezels', type: PICTURE },
  { kind: 'video', elements: ['video'], folder: 'videos', type: FILM },
  { kind: 'manual', elements: ['manual'], folder: 'manuals', type: DOCUMENT }
] as const
type Kind = typeof KINDS[number]['kind']

/**
 * Creates a function that finds the media of games, by kind: those that the entry names, in the folder of ROMs, and
 * those in ES-DE's folder of media. The latter count as added by a person, because no provider reads that folder.
 */
export function createMediaFinder (folders: Folders): (game: Game) => Promise<Map<Kind, Media>> {
  /** The file names of the folders of one system, by name without extension. */
  let system = ''
  let indexes = new Map<string, Map<string, string[]>>()

  async function indexFolder (path: string): Promise<Map<string, string[]>> {
    const known = indexes.get(path)
    if (known !== undefined) return known
    const index = Map.groupBy((await listNames(folders.media, path, 'file')).sort(), (name) => posix.parse(name).name)
    indexes.set(path, index)
    return index
  }

  async function findInMedia (
    { system: name, entry, fsName }: Game, { folder, type }: typeof KINDS[number]
  ): Promise<Media | null> {
    if (folders.media === null) return null
    const { dir, name: stem, base } = posix.parse(entry.path)
    for (const [path, title] of [[dir, stem], [dir, base], ['', posix.parse(fsName).name], ['', fsName]] as const) {
      const directory = posix.join(name, folder, path)
      const file = (await indexFolder(directory)).get(title)?.find((candidate) => type.test(candidate))
      if (file !== undefined) return { file: { path: `media/${directory}/${file}`, size_bytes: null }, url: null }
    }
    return null
  }

  return async (game) => {
    if (game.system !== system) indexes = new Map()
    system = game.system
    const found = new Map<Kind, Media>()
    for (const kind of KINDS) {
      const media = await findNamed(folders, game, kind) ?? await findInMedia(game, kind)
      if (media !== null) found.set(kind.kind, media)
    }
    return found
  }
}

async function findNamed (
  { folder }: Folders, { system, entry }: Game, { elements, type }: typeof KINDS[number]
): Promise<Media | null> {
  for (const element of elements) {
    const given = entry.text.get(element) ?? ''
    const path = /^[/~]|^[a-z]:/i.test(given) ? null : normalizePath(given)
    if (path === null || !type.test(path) || !await isFile(folder, `${system}/${path}`)) continue
    return { file: { path: `roms/${system}/${path}`, size_bytes: null }, url: `file://${system}/${path}` }
  }
  return null
}

async function isFile (base: string, path: string): Promise<boolean> {
  try {
    await (await openInside(base, path)).close()
    return true
  } catch (err) {
    if (!isNothingThere(err)) throw err
    return false
  }
}
