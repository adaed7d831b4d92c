import type { StoredRom } from '../../matching/stored-rows.ts'
import type { ScannedPlatform } from '../../matching/sdk-rom.ts'

/** A ROM that is due for a lookup. */
export interface DueRom {
  id: number
  fs_name: string
  /** True if this scan added the ROM. */
  isNew: boolean
  /** True if this scan looked the ROM up before its worker went down; only follow-up work such as artwork is left. */
  isLookedUp: boolean
}

/** A due ROM with the data that its lookup needs. */
export interface LoadedRom extends StoredRom {
  due: DueRom
  platform: ScannedPlatform
  titles: readonly string[]
}
