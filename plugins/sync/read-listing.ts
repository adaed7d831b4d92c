import { ApiError } from '../../core/errors.ts'
import { requireTime } from '../../core/database/times.ts'
import type { AssetKind } from '../assets/entities.ts'
import { cleanFileName } from '../assets/asset-names.ts'
import type { DeviceFile } from './decide.ts'
import type { AssetRow } from './rows.ts'

/** A file as a device lists it, in either dialect. */
export interface ListedFile extends DeviceFile {
  rom_id: number
  kind: AssetKind
  /** As the device calls it. */
  file_name: string
  /** When it was changed, as the device says it. */
  mtime: string
  slot: string | null
  emulator: string | null
  /** Whether the server could keep a file of that name. */
  is_storable: boolean
  /** As of `Listing.keyOf`. */
  key: string | null
}

/** What a device says it has, and what it wants to know. */
export interface Listing {
  files: readonly ListedFile[]
  kinds: readonly AssetKind[]
  /** ROMs whose files are offered; null for all. */
  rom_ids: readonly number[] | null
  /** Whether what the device once had is offered when it changed, also of other ROMs. */
  includes_known: boolean
  restores_unlisted: boolean
  /**
   * Files of a ROM with one key are versions of the same file or slot; null for what is not paired. It is the name or
   * the slot alone: `key_start` would have to be put before each of thousands.
   */
  keyOf (asset: Pick<AssetRow, 'file_name' | 'slot' | 'emulator' | 'conflict_of'>): string | null
  /** What comes before such a key where agreements are kept under it. */
  key_start: string
}

const HASH = /^([0-9a-f]{40}|[0-9a-f]{32})$/

/** A digest as the server spells it; what is none of its kinds cannot be compared, so it is none. */
export function readHash (given: string | null | undefined): string | null {
  const hash = given?.toLowerCase() ?? ''
  return HASH.test(hash) ? hash : null
}

/** When a device says that a file was changed. Asked only where there is no hash: nothing else goes by it. */
export const readChange = (time: string, loc: readonly (string | number)[]): number =>
  requireTime(time, ['body', ...loc]).getTime()

/** The name under which an upload would be kept; null when none of that name is taken. */
export function readStoredName (fileName: string): string | null {
  try {
    return cleanFileName(fileName)
  } catch (err) {
    if (err instanceof ApiError) return null
    throw err
  }
}
