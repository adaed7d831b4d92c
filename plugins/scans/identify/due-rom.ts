import type { RomHistory } from '../../matching/lookup-plan.ts'
import type { StoredRom } from '../../matching/stored-rows.ts'
import type { ScannedPlatform } from '../../matching/sdk-rom.ts'

/** A ROM that is due for a lookup. */
export interface DueRom {
  id: number
  fs_name: string
  history: RomHistory
}

/** A due ROM with the data that its lookup needs. */
export interface LoadedRom extends StoredRom {
  due: DueRom
  platform: ScannedPlatform
  titles: readonly string[]
}
