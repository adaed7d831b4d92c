import type { MissingRoms } from '../disk/missing-roms.ts'
import type { MovedRoms } from '../disk/moved-roms.ts'
import type { RebuiltEntry } from '../disk/decide-entries.ts'
import type { DueRom } from '../identify/due-rom.ts'
import { includesStoredRom } from '../../matching/lookup-plan.ts'
import type { ScannedPlatform } from '../../matching/sdk-rom.ts'
import type { Announcer } from '../progress/announcer.ts'
import { writeInHalves } from '../database-errors.ts'
import type { Progress } from '../progress/scan-progress.ts'
import type { ScanChoice } from '../../matching/scan-types.ts'
import { toFileRows, toRomRow } from '../entry-rows.ts'
import type { RomStore, RomWrite, RomWriteResult } from '../rom-rows.ts'
import type { TableStatistics } from './statistics-rows.ts'

interface RebuildServices {
  choice: ScanChoice
  store: Pick<RomStore, 'write'>
  moves: MovedRoms
  statistics: Pick<TableStatistics, 'added'>
  /** Drops stored artwork before a ROM is scanned from scratch. */
  dropArtwork: (ids: readonly number[], platform: ScannedPlatform) => Promise<void>
  /** Deletes files of the resources folder that no row names any more. */
  removeArtwork: (paths: readonly string[]) => Promise<void>
  progress: Pick<Progress, 'add' | 'problem'>
  announcer: Announcer
}

interface RomRebuild { decision: RebuiltEntry, write: RomWrite, isMoved: boolean }

/** Creates the function that writes entries whose files were read again. */
export function createRebuild (services: RebuildServices) {
  const { choice, store, moves, statistics, dropArtwork, removeArtwork, progress, announcer } = services

  /** Makes the rows of rebuilt entries. A new entry that is a renamed or moved missing ROM gets the row of this ROM. */
  async function toRows (
    decisions: readonly RebuiltEntry[], platform: ScannedPlatform, missing: MissingRoms
  ): Promise<RomRebuild[]> {
    const rebuilds: RomRebuild[] = []
    for (const decision of decisions) {
      const row = toRomRow(
        decision.entry, platform.fs_path, decision.hashes, decision.known?.id ?? null, decision.writesTags
      )
      const files = toFileRows(decision.entry, decision.hashes)
      if (decision.known === null) row.id = await missing.claim(row, files)
      rebuilds.push({ decision, isMoved: decision.known === null && row.id !== null, write: { row, files } })
    }
    const unknown = rebuilds.map(({ write }) => write.row).filter((row) => row.id === null)
    const moved = new Set(await moves.claim(unknown, platform))
    for (const rebuild of rebuilds) if (moved.has(rebuild.write.row)) rebuild.isMoved = true
    return rebuilds
  }

  async function writeRows (rebuilds: readonly RomRebuild[], platform: ScannedPlatform) {
    const written = await writeInHalves<RomWrite, RomWriteResult>(
      rebuilds.map(({ write }) => write),
      (writes) => store.write(platform, writes),
      ({ row }, err) => {
        progress.problem({
          platform: platform.fs_slug, path: `${row.fs_path}/${row.fs_name}`, reason: `it was not stored: ${err.message}`
        })
      }
    )
    return new Map(written.map((rom) => [rom.fs_name, rom]))
  }

  async function announce (due: readonly DueRom[], changed: readonly number[]): Promise<void> {
    const isIdentifying = choice.selected.length > 0
    for (const isNew of [true, false]) {
      const ids = due.filter((rom) => rom.isNew === isNew).map((rom) => rom.id)
      await announcer.roms(ids, { is_new: isNew, is_identifying: isIdentifying })
    }
    await announcer.roms(changed, { is_new: false, is_identifying: false })
  }

  /** Writes rebuilt entries. @returns the ROMs that are due for a lookup */
  return async function rebuild (
    decisions: readonly RebuiltEntry[], platform: ScannedPlatform, missing: MissingRoms
  ): Promise<DueRom[]> {
    const { type, selected } = choice
    const rebuilds = await toRows(decisions, platform, missing)
    if (type === 'complete') await dropArtwork(rebuilds.flatMap(({ write }) => write.row.id ?? []), platform)
    const written = await writeRows(rebuilds, platform)
    await removeArtwork([...written.values()].flatMap((rom) => rom.deletedCovers))
    statistics.added(rebuilds.filter(({ write }) => write.row.id === null).length)
    const due: DueRom[] = []
    const changed: number[] = []
    const done = { scanned_roms: rebuilds.length, new_files: 0, new_roms: 0, updated_roms: 0 }
    for (const { decision, isMoved } of rebuilds) {
      const rom = written.get(decision.entry.fs_name)
      if (rom === undefined) continue
      const isNew = decision.known?.is_fresh ?? !isMoved
      done.new_files += rom.newFiles
      done[isNew ? 'new_roms' : 'updated_roms']++
      const isDue = isMoved
        ? includesStoredRom(choice, { is_identified: true, providers: selected })
        : decision.isLookupAllowed
      if (isDue) due.push({ id: rom.id, fs_name: rom.fs_name, isNew, isLookedUp: false })
      else changed.push(rom.id)
    }
    progress.add(done)
    await announce(due, changed)
    return due
  }
}
export type Rebuild = ReturnType<typeof createRebuild>
