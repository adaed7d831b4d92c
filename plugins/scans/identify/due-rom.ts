import type { StoredRom } from '../../matching/stored-rows.ts'
import type { ScannedPlatform } from '../../matching/sdk-rom.ts'

/** A ROM that is due for a lookup. */
export interface DueRom {
  id: number
  fs_name: string
  /** Added by this scan. */
  isNew: boolean
  /** Looked up by this scan already, before its worker went down: only what follows is left. */
  isSettled: boolean
}

/** One whose turn comes soon, with what its lookup needs. */
export interface LoadedRom extends StoredRom {
  due: DueRom
  platform: ScannedPlatform
  titles: readonly string[]
}
