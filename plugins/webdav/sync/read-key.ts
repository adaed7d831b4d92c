import { badRequest } from '../../../core/errors.ts'
import type { AssetKind } from '../../assets/entities.ts'

/** Folders whose files belong to games. */
const GAME_ROOTS = { saves: 'save', states: 'state' } as const
/** All folders that RetroArch syncs. */
export const ROOTS = ['saves', 'states', 'config', 'thumbnails', 'system'] as const
type Root = typeof ROOTS[number]

/** Longer than the path of any file system that RetroArch runs on allows below its folders. */
const PATH_BYTES_MAX = 1_024
const NAME_BYTES_MAX = 255
const FOLDERS_MAX = 32
const QUOTED_MAX = 100
const CONTROL_CHARACTERS = /[\0-\x1f\x7f]/ // eslint-disable-line no-control-regex

/** The path of a file below the address of the sync. */
export interface Key {
  path: string
  /** The path with ASCII letters in lower case. */
  folded: string
  root: Root
  /** The folders between root and file. */
  folders: readonly string[]
  file: string
}

/** The part of a game's file name that names the game, and the kind of the file. */
export interface GameFile {
  kind: AssetKind
  /** Possible names of the content, the most likely first. */
  stems: readonly string[]
}

/** Returns a path with ASCII letters in lower case, as RetroArch compares paths. */
export const foldPath = (path: string): string => path.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase())

const refused = (path: string, reason: string) =>
  badRequest(`The path '${path.slice(0, QUOTED_MAX).toWellFormed()}' cannot be synced: it ${reason}; rename the file on the device`)

function explainRefusal (path: string, parts: readonly string[]): string | null {
  if (!path.isWellFormed()) return 'is not valid Unicode'
  if (CONTROL_CHARACTERS.test(path)) return 'has a control character'
  if (Buffer.byteLength(path) > PATH_BYTES_MAX) return `is longer than ${PATH_BYTES_MAX} bytes`
  if (parts.length > FOLDERS_MAX) return `has more than ${FOLDERS_MAX} folders`
  if (parts.some((part) => part === '' || part === '.' || part === '..')) return "has an empty part, '.' or '..'"
  return parts.some((part) => Buffer.byteLength(part) > NAME_BYTES_MAX) ? `has a name of more than ${NAME_BYTES_MAX} bytes` : null
}

/** @throws ApiError BAD_REQUEST unless the path is one of a file that can be synced */
export function readKey (path: string): Key {
  const parts = path.split('/')
  const reason = explainRefusal(path, parts)
  if (reason !== null) throw refused(path, reason)
  const folded = foldPath(path)
  const root = ROOTS.find((one) => folded.startsWith(`${one}/`))
  const file = parts.at(-1)
  if (root === undefined || file === undefined) throw refused(path, `is in none of the folders ${ROOTS.join(', ')}`)
  return { path, folded, root, folders: parts.slice(1, -1), file }
}

const STATE_ENDING = /\.(?:state(?:\d+|\.auto)?|replay\d*)$/i
const PICTURE_ENDING = /\.png$/i

/** Returns a name without its last extension; a name that is nothing else stays. */
function withoutExtension (name: string): string {
  const dot = name.lastIndexOf('.')
  return dot <= 0 ? name : name.slice(0, dot)
}

function readState (file: string): GameFile {
  const unpictured = file.replace(PICTURE_ENDING, '')
  const isPicture = unpictured !== file && STATE_ENDING.test(unpictured)
  const name = isPicture ? unpictured : file
  const stem = name.replace(STATE_ENDING, '')
  return { kind: isPicture ? 'screenshot' : 'state', stems: [stem === name ? withoutExtension(name) : stem] }
}

/** Returns the kind and content of a save or state; null for files of other folders. */
export function readGameFile ({ root, file }: Pick<Key, 'root' | 'file'>): GameFile | null {
  if (root !== 'saves' && root !== 'states') return null
  if (GAME_ROOTS[root] === 'state') return readState(file)
  const stem = withoutExtension(file)
  return { kind: 'save', stems: [...new Set([stem, withoutExtension(stem)])] }
}

/** True for a battery save, which shares its slot with saves of other apps. */
export const isBatterySave = ({ root, file }: Pick<Key, 'root' | 'file'>): boolean => root === 'saves' && /\.srm$/i.test(file)
