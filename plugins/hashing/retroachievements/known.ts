import { createHash } from 'node:crypto'
import { basename, extname } from 'node:path'
import { compareNames } from '../../../core/archives/archive.ts'
import { formatOf } from '../../../core/archives/formats.ts'
import type { FileHashes } from '../hash-types.ts'
import { ARCADE, hasHeaders, isWholeFile } from './consoles.ts'

/**
 * Folders by which FBNeo tells the games of other machines from arcade games; they belong to the name then.
 * https://github.com/libretro/FBNeo/blob/master/src/burner/libretro/README.md
 */
const NAMED_FOLDERS = new Set(['nes', 'fds', 'sms', 'msx', 'ngp', 'pce', 'chf', 'sgx', 'tg16', 'msx1', 'neocd', 'coleco',
  'sg1000', 'genesis', 'gamegear', 'megadriv', 'pcengine', 'channelf', 'spectrum', 'megadrive', 'supergrafx',
  'zxspectrum', 'mastersystem', 'colecovision'])

/** Where a file lies: as the library shows it, and where a link to it leads. */
export interface KnownFile {
  readonly file_name: string
  /** Its folder, with forward slashes. */
  readonly file_path: string
  readonly absolute_path: string
  readonly file_size_bytes: number
}

/**
 * The RetroAchievements hash where it follows from the name, or from hashes at hand: the content is not read again.
 * @param hashes those of the file by itself; null when there are none
 */
export function knownHash (console: number, file: KnownFile, hashes: FileHashes | null): string | null {
  if (console === ARCADE) return hashName(file)
  if (hashes === null || hashes.md5_hash === '' || hashes.warning !== undefined) return null
  const { absolute_path: path, file_size_bytes: size } = file
  if (isPlaylist(path)) return null
  if (formatOf(path).kind === 'plain') return isWholeFile(console, size) ? hashes.md5_hash : null
  const member = largestMember(hashes.archive_members ?? [])
  return member !== null && isWholeFile(console, member.size) ? member.md5_hash : null
}

/** Whether the hash is made from the bytes of this very file, or of a member of it, by a rule of its own. */
export function hasOwnRule (console: number, { absolute_path: path, file_size_bytes: size }: KnownFile): boolean {
  if (console === ARCADE || isPlaylist(path)) return false
  const { kind } = formatOf(path)
  return kind === 'plain' ? !isWholeFile(console, size) : kind === 'archive' && hasHeaders(console)
}

export const isPlaylist = (path: string): boolean => path.toLowerCase().endsWith('.m3u')

/** The largest member of an archive, the first by name of several alike. */
export function largestMember<Member extends { name: string, size: number }> (
  members: readonly Member[]
): Member | null {
  return members.toSorted((a, b) => b.size - a.size || compareNames(a.name, b.name))[0] ?? null
}

function hashName ({ file_name: fileName, file_path: filePath }: KnownFile): string {
  const name = basename(fileName, extname(fileName))
  const folder = basename(filePath).toLowerCase()
  return createHash('md5').update(NAMED_FOLDERS.has(folder) ? `${folder}_${name}` : name).digest('hex')
}
