import { createHash } from 'node:crypto'
import { basename, extname } from 'node:path'
import { compareNames } from '../../../core/archives/archive.ts'
import { formatOf } from '../../../core/archives/formats.ts'
import type { FileHashes } from '../hash-types.ts'
import { ARCADE, hasHeaders, isWholeFile } from './consoles.ts'

/**
 * Folders by which FBNeo tells the games of other machines from arcade games; the hashed name then includes them.
 * https://github.com/libretro/FBNeo/blob/master/src/burner/libretro/README.md
 */
const NAMED_FOLDERS = new Set(['nes', 'fds', 'sms', 'msx', 'ngp', 'pce', 'chf', 'sgx', 'tg16', 'msx1', 'neocd', 'coleco',
  'sg1000', 'genesis', 'gamegear', 'megadriv', 'pcengine', 'channelf', 'spectrum', 'megadrive', 'supergrafx',
  'zxspectrum', 'mastersystem', 'colecovision'])

/** The location of a file: in the library, and the target of a link to the file. */
export interface LocatedFile {
  readonly file_name: string
  /** Its folder, with forward slashes. */
  readonly file_path: string
  readonly absolute_path: string
  readonly file_size_bytes: number
}

/**
 * Returns the RetroAchievements hash if it follows from the name or from known hashes, without reading the content
 * again.
 * @param hashes the hashes of this file alone; null if there are none
 */
export function knownHash (console: number, file: LocatedFile, hashes: FileHashes | null): string | null {
  if (console === ARCADE) return hashName(file)
  if (hashes === null || hashes.md5_hash === '' || hashes.warning !== undefined) return null
  const { absolute_path: path, file_size_bytes: size } = file
  if (isPlaylist(path)) return null
  if (formatOf(path).kind === 'plain') return isWholeFile(console, size) ? hashes.md5_hash : null
  const member = largestMember(hashes.archive_members ?? [])
  return member !== null && isWholeFile(console, member.size) ? member.md5_hash : null
}

/** True if a special rule makes the hash from the bytes of this file or of one of its members. */
export function hasOwnRule (console: number, { absolute_path: path, file_size_bytes: size }: LocatedFile): boolean {
  if (console === ARCADE || isPlaylist(path)) return false
  const { kind } = formatOf(path)
  return kind === 'plain' ? !isWholeFile(console, size) : kind === 'archive' && hasHeaders(console)
}

export const isPlaylist = (path: string): boolean => path.toLowerCase().endsWith('.m3u')

/** Returns the largest member of an archive, the first by name among equals. */
export function largestMember<Member extends { name: string, size: number }> (
  members: readonly Member[]
): Member | null {
  return members.toSorted((a, b) => b.size - a.size || compareNames(a.name, b.name))[0] ?? null
}

function hashName ({ file_name: fileName, file_path: filePath }: LocatedFile): string {
  const name = basename(fileName, extname(fileName))
  const folder = basename(filePath).toLowerCase()
  return createHash('md5').update(NAMED_FOLDERS.has(folder) ? `${folder}_${name}` : name).digest('hex')
}
