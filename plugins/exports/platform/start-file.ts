import { posix } from 'node:path'
import type { ApiError } from '../../../core/errors.ts'
import { exportFailed } from '../errors.ts'

/** Files that list other files: playlists come before the sheets of single discs. */
const DESCRIPTORS: readonly (readonly string[])[] = [['.m3u', '.m3u8'], ['.cue'], ['.gdi'], ['.ccd'], ['.mds']]
/** Extensions of files beside a game that are not games. */
const NOT_GAMES = new Set([
  '.txt', '.nfo', '.diz', '.md', '.pdf', '.html', '.htm', '.url', '.xml', '.sfv', '.md5', '.sha1', '.sbi', '.srm', '.sav',
  '.jpg', '.jpeg', '.png', '.gif', '.webp', '.bmp'
])
/** A game that consists of programs starts as a folder, whatever their number. */
const PROGRAMS = new Set(['.exe', '.com', '.bat', '.sh', '.dll', '.so', '.dat'])

const extensionOf = (name: string) => posix.extname(name).toLowerCase()

function refuse (names: readonly string[]): ApiError {
  return exportFailed(`The folder contains ${names.length} files that a frontend could start, such as ` +
    `${names.slice(0, 2).map((name) => JSON.stringify(name)).join(' and ')}. Add an .m3u file that lists the discs of one ` +
    'game, or move each game out of the folder, then scan again.')
}

/**
 * Returns the file in a ROM's folder that a frontend starts: the playlist, else the only sheet, else the only game.
 *
 * @param names of the files directly in the folder
 * @returns null if the game is the folder as a whole
 * @throws ApiError EXPORT_FAILED if there are several games or discs and no file says which one starts
 */
export function findStartFile (names: readonly string[]): string | null {
  for (const extensions of DESCRIPTORS) {
    const found = names.filter((name) => extensions.includes(extensionOf(name)))
    if (found.length > 1) throw refuse(found)
    if (found[0] !== undefined) return found[0]
  }
  if (names.length === 1) return names[0] ?? null
  const games = names.filter((name) => !NOT_GAMES.has(extensionOf(name)))
  if (games.length === 1) return games[0] ?? null
  const [first = ''] = games
  const isOfOneKind = games.length > 1 && games.every((name) => extensionOf(name) === extensionOf(first))
  if (isOfOneKind && extensionOf(first) !== '' && !PROGRAMS.has(extensionOf(first))) throw refuse(games)
  return null
}
