import type { ProgramName } from './api-programs.ts'

/** What the API is asked for by its benchmark, and what has to come of it. */
export interface Row {
  name: string
  path (rom: number): string
  /** What is asked; default one worker. */
  of?: ProgramName
  /** What it is compared with. */
  beside: ProgramName
  /** What the bare program is asked for instead. */
  barePath?: string
  isOpen?: boolean
  /** At least so many times what answers beside it. */
  least?: number
  /** The 99th percentile: at most so many times that of what answers beside it. */
  p99Most?: number
  /** At least so many in a second. */
  leastPerSecond?: number
}

const ALONE = 'with_total=false&with_char_index=false&with_rom_id_index=false&with_filter_values=false&with_files=false'
const LIST = `/api/roms?limit=50&${ALONE}`

const ONE_ROM = { name: 'one ROM', path: (rom: number) => `/api/roms/${rom}` }
const LIST_OF_50 = { name: 'list of 50', path: () => LIST }
const beside = 'the bare program'

/** Several web workers have to be faster than one where there are processors for them. */
const byMore = ({ name, path }: Pick<Row, 'name' | 'path'>): Row =>
  ({ name: `${name}, up to four workers`, path, of: 'up to four workers', beside: 'one worker', least: 1.6 })

export const ROWS: readonly Row[] = [
  { ...ONE_ROM, beside, least: 0.6, p99Most: 2 },
  { ...LIST_OF_50, beside, least: 0.6, p99Most: 2 },
  { name: 'list of 50 with sidecars, one platform', path: () => '/api/roms?limit=50&platform_ids=1', beside, barePath: LIST, least: 0.3 },
  { name: 'heartbeat with a token', path: () => '/api/heartbeat', beside, leastPerSecond: 5_000 },
  { name: 'health', path: () => '/api/health', beside, isOpen: true },
  byMore(ONE_ROM),
  byMore(LIST_OF_50)
]
