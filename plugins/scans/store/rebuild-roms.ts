import type { MissingRoms } from '../disk/missing-roms.ts'
import type { MovedRoms } from '../disk/moved-roms.ts'
import type { RebuiltEntry } from '../disk/decide-entries.ts'
import type { DueRom } from '../identify/due-rom.ts'
import { includesStoredRom } from '../../matching/lookup-plan.ts'
import type { ScannedPlatform } from '../../matching/sdk-rom.ts'
import type { Announcer } from '../progress/announcer.ts'
import { writeInHalves } from '../database-errors.ts'
import type { PartLeases } from '../parts/part-leases.ts'
import type { ScanChoice } from '../../matching/scan-types.ts'
import { toFileRows, toRomRow } from '../entry-rows.ts'
import { type RomWrite, type RomWriteResult, writeRoms } from '../rom-write-rows.ts'
import type { TableStatistics } from './statistics-rows.ts'

interface RebuildServices {
  choice: ScanChoice
  moves: MovedRoms
  statistics: Pick<TableStatistics, 'added'>
  /** Drops stored artwork before a ROM is scanned from scratch. */
  dropArtwork: (ids: readonly number[], platform: ScannedPlatform) => Promise<void>
  /** Deletes files of the resources folder that no row names any more. */
  removeArtwork: (paths: readonly string[]) => Promise<void>
  parts: Pick<PartLeases, 'of' | 'write'>
  announcer: Announcer
}

/** An entry whose files were read again. A moved one has no row under its name, but gets the row of a missing ROM. */
type RomChange = RebuiltEntry | (Omit<Extract<RebuiltEntry, { kind: 'new' }>, 'kind'> & { kind: 'moved' })

interface RomRebuild { change: RomChange, write: RomWrite }

/** Makes the rows of rebuilt entries. A new entry that is a renamed or moved missing ROM gets the row of this ROM. */
async function toRebuilds (
  entries: readonly RebuiltEntry[], platform: ScannedPlatform, missing: MissingRoms, moves: MovedRoms
): Promise<RomRebuild[]> {
  const rebuilds: { change: RebuiltEntry, write: RomWrite }[] = []
  for (const change of entries) {
    const target = change.kind === 'new'
      ? { id: null, stored_name: null, writes_tags: true }
      : { id: change.known.id, stored_name: change.known.fs_name, writes_tags: change.kind === 'rebuilt' }
    const row = toRomRow(change, platform.fs_path, target)
    const files = toFileRows(change)
    const claimed = change.kind === 'new' ? await missing.claim(row, files) : null
    if (claimed !== null) Object.assign(row, { id: claimed.id, stored_name: claimed.fs_name })
    rebuilds.push({ change, write: { row, files } })
  }
  await moves.claim(rebuilds.map(({ write }) => write).filter(({ row }) => row.id === null), platform)
  return rebuilds.map(({ change, write }) => change.kind === 'new' && write.row.id !== null
    ? { change: { ...change, kind: 'moved' }, write }
    : { change, write })
}

/** True if this scan added the ROM, even if that was before its worker went down. */
function isAdded (change: RomChange): boolean {
  if (change.kind === 'new' || change.kind === 'moved') return change.kind === 'new'
  return change.known.is_fresh
}

function isDue (change: RomChange, choice: ScanChoice): boolean {
  if (change.kind === 'moved') return includesStoredRom(choice, { is_identified: true, providers: choice.selected })
  return change.kind !== 'changed' || change.isDue
}

/** Creates the function that writes entries whose files were read again. */
export function createRebuild (services: RebuildServices) {
  const { choice, moves, statistics, dropArtwork, removeArtwork, parts, announcer } = services

  async function writeRows (rebuilds: readonly RomRebuild[], platform: ScannedPlatform) {
    const written = await writeInHalves<RomWrite, RomWriteResult>(
      rebuilds.map(({ write }) => write),
      (writes) => parts.write([platform], (db) => writeRoms(db, platform, writes)),
      ({ row }, err) => {
        parts.of(platform).problem({
          platform: platform.fs_slug, path: `${row.fs_path}/${row.fs_name}`, reason: `it was not stored: ${err.message}`
        })
      }
    )
    return new Map(written.map((rom) => [rom.fs_name, rom]))
  }

  async function announce (due: readonly DueRom[], changed: readonly number[]): Promise<void> {
    const isIdentifying = choice.selected.length > 0
    const [known, added] = [due.filter((rom) => rom.history === 'known'), due.filter((rom) => rom.history !== 'known')]
    await announcer.roms(added.map((rom) => rom.id), { is_new: true, is_identifying: isIdentifying })
    await announcer.roms(known.map((rom) => rom.id), { is_new: false, is_identifying: isIdentifying })
    await announcer.roms(changed, { is_new: false, is_identifying: false })
  }

  /** Writes rebuilt entries. @returns the ROMs that are due for a lookup */
  return async function rebuild (
    entries: readonly RebuiltEntry[], platform: ScannedPlatform, missing: MissingRoms
  ): Promise<DueRom[]> {
    const rebuilds = await toRebuilds(entries, platform, missing, moves)
    if (choice.type === 'complete') await dropArtwork(rebuilds.flatMap(({ write }) => write.row.id ?? []), platform)
    const written = await writeRows(rebuilds, platform)
    await removeArtwork([...written.values()].flatMap((rom) => rom.deletedCovers))
    statistics.added(rebuilds.filter(({ change }) => change.kind === 'new').length)
    const due: DueRom[] = []
    const changed: number[] = []
    const done = { scanned_roms: rebuilds.length, new_files: 0, new_roms: 0, updated_roms: 0 }
    for (const { change } of rebuilds) {
      const rom = written.get(change.entry.fs_name)
      if (rom === undefined) continue
      done.new_files += rom.newFiles
      done[isAdded(change) ? 'new_roms' : 'updated_roms']++
      if (isDue(change, choice)) due.push({ id: rom.id, fs_name: rom.fs_name, history: isAdded(change) ? 'new' : 'known' })
      else changed.push(rom.id)
    }
    parts.of(platform).add(done)
    await announce(due, changed)
    return due
  }
}
export type Rebuild = ReturnType<typeof createRebuild>
