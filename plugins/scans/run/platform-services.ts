import type { Hasher } from '../hashing/hasher.ts'
import type { ExclusionRules } from '../../library/exclusions.ts'
import type { Announcer } from './announcer.ts'
import type { DueRom } from '../identify/all-roms.ts'
import type { Moves } from '../disk/moves.ts'
import type { PlatformFolders } from '../disk/platform-folder.ts'
import type { Progress } from './progress.ts'
import type { RomStore } from '../store/rom-rows.ts'
import type { TableStatistics } from '../store/statistics-rows.ts'
import type { ScanType } from '../scan-types.ts'
import type { ScannedPlatform } from '../identify/sdk-rom.ts'
import type { Unfinished } from './unfinished-rows.ts'

/** What the scan of a platform works with. */
export interface PlatformScanServices {
  libraryDir: string
  rules: ExclusionRules
  type: ScanType
  /** Keys of the selected providers that can be asked. */
  selected: readonly string[]
  /** When this scan was first begun: rows made since are its own, also when another worker began it. */
  begunAt: Date
  unfinished: Unfinished
  store: RomStore
  statistics: TableStatistics
  moves: Moves
  folders: PlatformFolders
  hasher: Hasher
  progress: Progress
  announcer: Announcer
  signal: AbortSignal
  /** Whether files of a platform are hashed at all. */
  hashes: (slug: string) => boolean
  /** By whose rule RetroAchievements hashes files of a platform: its number there; null for none. */
  raConsole: (slug: string) => number | null
  identify: (due: readonly DueRom[], platform: ScannedPlatform) => Promise<void>
  /** Forgets stored artwork before a ROM is scanned from scratch. */
  dropArtwork: (ids: readonly number[], platform: ScannedPlatform) => Promise<void>
}
