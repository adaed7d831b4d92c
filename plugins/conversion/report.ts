import type { TaskRun } from '../tasks/definitions.ts'
import type { Conversion } from './convert-rom.ts'

/** The most ROMs of each kind in the report; the log of the server has every problem. */
const NAMED_MAX = 500
const REPORT_EVERY_MS = 1_000

/** A processed ROM. */
export type ReportedRom = { rom_id: number, fs_name: string } & (Conversion | { problem: string })

/** The results of a run so far, as the task shows them. */
interface ConversionMeta {
  conversion_stats: { processed: number, errors: number, total: number }
  dry_run: boolean
  converted_count: number
  left_count: number
  bytes_before: number
  bytes_after: number
  bytes_saved: number
  converted: ReportedRom[]
  left: ReportedRom[]
  problems: ReportedRom[]
}

/** Counts the results of ROMs, and reports them not more often than a write is worth. */
export function createReport (report: TaskRun['report'], { isDryRun, total }: { isDryRun: boolean, total: number }) {
  const meta: ConversionMeta = {
    conversion_stats: { processed: 0, errors: 0, total },
    dry_run: isDryRun,
    converted_count: 0,
    left_count: 0,
    bytes_before: 0,
    bytes_after: 0,
    bytes_saved: 0,
    converted: [],
    left: [],
    problems: []
  }
  let reportedAt = -Infinity

  const list = (to: ReportedRom[], rom: ReportedRom) => { if (to.length < NAMED_MAX) to.push(rom) }

  async function flush (): Promise<void> {
    reportedAt = performance.now()
    await report({ ...meta })
  }

  function count (rom: ReportedRom): void {
    meta.conversion_stats.processed++
    if ('problem' in rom) {
      meta.conversion_stats.errors++
      list(meta.problems, rom)
    } else if ('left' in rom) {
      meta.left_count++
      list(meta.left, rom)
    } else {
      meta.converted_count++
      meta.bytes_before += rom.bytes_before
      meta.bytes_after += rom.bytes_after
      meta.bytes_saved = meta.bytes_before - meta.bytes_after
      list(meta.converted, rom)
    }
  }

  return {
    flush,
    async add (rom: ReportedRom): Promise<void> {
      count(rom)
      if (performance.now() - reportedAt >= REPORT_EVERY_MS) await flush()
    }
  }
}
