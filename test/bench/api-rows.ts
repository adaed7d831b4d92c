import { availableParallelism } from 'node:os'
import { LARGE_ROM, PARTS, coverPath } from './api-files.ts'
import type { ProgramName } from './api-programs.ts'

/** A measured API request and its targets. */
export interface Row {
  name: string
  /** Each request gets another number from 1 to this for `{n}` in the path; default 1. */
  distinct?: (roms: number) => number
  /** True if a user with marks, hidden ROMs and a smart collection asks; else an administrator without any. */
  isPerson?: boolean
  path (rom: number): string
  /** The measured program; default one worker. */
  of?: ProgramName
  /** The program for comparison. */
  beside: ProgramName
  /** True if both programs are started anew for each round, without warm-ups. */
  isCold?: boolean
  /** True if a ROM changes ten times a second meanwhile. */
  isChanging?: boolean
  /** The path for the bare program, if it differs. */
  barePath?: string
  isOpen?: boolean
  /** Requests to each process before the first round; default 2,000. */
  warmUps?: number
  /** Minimum throughput relative to the program for comparison. */
  least?: number
  /** Maximum 99th percentile relative to the program for comparison. */
  p99Most?: number
  /** Minimum requests per second. */
  leastPerSecond?: number
}

const ALONE = 'with_total=false&with_char_index=false&with_rom_id_index=false&with_filter_values=false&with_files=false'
const LIST = `/api/roms?limit=50&${ALONE}`

const ONE_ROM = { name: 'one ROM', path: (rom: number) => `/api/roms/${rom}` }
const LIST_OF_50 = { name: 'list of 50', path: () => LIST }
const beside = 'the bare program'
const LARGE = { beside, barePath: '/files/game', warmUps: 2, least: 0.8 } as const

const PERSON = { isPerson: true, beside, least: 0.6 } as const
const EACH_ROM = { path: () => '/api/roms/{n}', distinct: (roms: number) => roms }
const EACH_PAGE = { path: () => `${LIST}&offset={n}`, distinct: (roms: number) => Math.min(roms, 20_000) - 50, warmUps: 100 }

/** Fewer cores than this measure only how the client, the database and the workers share them. */
const CORES_MIN = 4

/** Returns a row for several web workers, which must be faster than one. */
const byMore = ({ name, path }: Pick<Row, 'name' | 'path'>): Row =>
  ({ name: `${name}, up to four workers`, path, of: 'up to four workers', beside: 'one worker', least: 1.6 })

export const ROWS: readonly Row[] = [
  { ...ONE_ROM, beside, least: 0.6, p99Most: 2 },
  { ...LIST_OF_50, beside, least: 0.6, p99Most: 2 },
  { ...EACH_ROM, name: 'one ROM, another each time', beside, least: 0.6 },
  { ...EACH_PAGE, name: 'list of 50, another each time', beside, least: 0.6 },
  { ...EACH_ROM, ...PERSON, name: 'one ROM, another each time, user with marks' },
  { ...EACH_PAGE, ...PERSON, name: 'list of 50, another each time, user with marks' },
  { ...EACH_ROM, ...PERSON, name: 'one ROM, another each time, user with marks, during changes', isChanging: true },
  { ...EACH_PAGE, ...PERSON, name: 'list of 50, another each time, user with marks, during changes', isChanging: true },
  { ...EACH_ROM, ...PERSON, name: 'one ROM, another each time, user with marks, after a restart', isCold: true },
  { ...EACH_PAGE, ...PERSON, name: 'list of 50, another each time, user with marks, after a restart', isCold: true },
  { name: 'list of 50 with sidecars, one platform', path: () => '/api/roms?limit=50&platform_ids=1', beside, barePath: LIST, least: 0.3 },
  { name: 'heartbeat with a token', path: () => '/api/heartbeat', beside, leastPerSecond: 5_000 },
  { name: 'download of 64 MiB', path: () => `/api/roms/${LARGE_ROM}/content/x`, ...LARGE },
  { name: 'zip of 64 MiB', path: () => `/api/roms/download?rom_ids=${PARTS.join()}`, ...LARGE },
  { name: 'cover of 60 kB', path: coverPath, beside, barePath: '/files/cover', least: 0.8 },
  { name: 'health', path: () => '/api/health', beside, isOpen: true },
  ...(availableParallelism() < CORES_MIN ? [] : [ONE_ROM, LIST_OF_50].map(byMore))
]
