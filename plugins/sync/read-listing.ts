import { ApiError } from '../../core/errors.ts'
import { readTime, requireTime } from '../../core/database/times.ts'
import type { AssetKind } from '../assets/entities.ts'
import { cleanFileName } from '../assets/asset-names.ts'
import { withoutDateTag } from '../assets/base-rows.ts'
import type { DeviceFile } from './decide.ts'
import type { AssetRow } from './rows.ts'

/** A file as a device lists it, in either dialect. */
export interface ListedFile extends DeviceFile {
  rom_id: number
  kind: AssetKind
  /** The file name on the device. */
  file_name: string
  /** Time of the last change, as text from the device. */
  mtime: string
  slot: string | null
  emulator: string | null
  /** True if the server accepts files of this name. */
  is_storable: boolean
  /** A key from `Listing.keyOf`. */
  key: string | null
}

/** The files that a device lists, and the options of its request. */
export interface Listing {
  files: readonly ListedFile[]
  kinds: readonly AssetKind[]
  /** ROMs whose files are offered; null for all. */
  rom_ids: readonly number[] | null
  /** True if changed files with a base are offered, even for other ROMs. */
  includes_known: boolean
  restores_unlisted: boolean
  /**
   * Returns the pairing key of an asset; null for an asset that is not paired. Files of a ROM with the same key are
   * versions of one file or slot. The key is the name or slot alone, because prefixing `key_start` to thousands of keys
   * takes time.
   */
  keyOf (asset: Pick<AssetRow, 'file_name' | 'slot' | 'emulator' | 'conflict_of'>): string | null
  /** Prefix of such a key in the stored bases. */
  key_start: string
  /** True if a file is paired rather than another one with the same key. */
  isPreferred (file: ListedFile, other: ListedFile): boolean
}

const HASH = /^([0-9a-f]{40}|[0-9a-f]{32})$/

/** Returns a digest in the server's notation. A digest of another kind cannot be compared and becomes null. */
export function readHash (given: string | null | undefined): string | null {
  const hash = given?.toLowerCase() ?? ''
  return HASH.test(hash) ? hash : null
}

/** Parses the time when a file changed on the device. It is only needed for a file without a hash. */
export const readChange = (time: string, loc: readonly (string | number)[]): number =>
  requireTime(time, ['body', ...loc]).getTime()

const changeOf = ({ mtime }: ListedFile) => readTime(mtime)?.getTime() ?? 0

/** True if a file of the device was changed after another, by the clock of the device. */
export const isChangedLater = (file: ListedFile, other: ListedFile): boolean => changeOf(file) > changeOf(other)

const isTagged = ({ file_name: name }: ListedFile) => withoutDateTag(name) !== name

/**
 * Prefers a file without a date tag, because names of copies have one, and a later tag to an earlier one. Two files
 * without tags have names that the server stores as one; the one that was changed last is preferred.
 */
export function isPreferredName (file: ListedFile, other: ListedFile): boolean {
  if (isTagged(file) !== isTagged(other)) return isTagged(other)
  return isTagged(file) ? file.file_name > other.file_name : isChangedLater(file, other)
}

/** Returns the stored name of an upload; null if the server refuses the name. */
export function readStoredName (fileName: string): string | null {
  try {
    return cleanFileName(fileName)
  } catch (err) {
    if (err instanceof ApiError) return null
    throw err
  }
}
