import type { DueRom } from '../identify/all-roms.ts'
import { takesKnown } from '../identify/plan.ts'
import type { Missing } from '../disk/missing.ts'
import type { Moves } from '../disk/moves.ts'
import type { PlatformScanServices } from '../run/platform-services.ts'
import { toFileRows, toRomRow } from './rows-of-entry.ts'
import type { RomWrite, WrittenRom } from './rom-rows.ts'
import type { ScannedPlatform } from '../identify/sdk-rom.ts'
import type { Rebuilt } from '../disk/take.ts'
import { writeInHalves } from '../run/database-errors.ts'

interface Rebuild { one: Rebuilt, write: RomWrite, isMoved: boolean }

/** The rows of rebuilt entries; a new entry that is a vanished one renamed or moved gets that one's row. */
async function toRebuilds (
  taken: readonly Rebuilt[], platform: ScannedPlatform, moves: Moves, missing: Missing
): Promise<Rebuild[]> {
  const rebuilds: Rebuild[] = []
  for (const one of taken) {
    const row = toRomRow(one.entry, platform.fs_path, one.hashes, one.known?.id ?? null, one.writesTags)
    const files = toFileRows(one.entry, one.hashes)
    if (one.known === null) row.id = await missing.claim(row, files)
    rebuilds.push({ one, isMoved: one.known === null && row.id !== null, write: { row, files } })
  }
  const unknown = rebuilds.map(({ write }) => write.row).filter((row) => row.id === null)
  const moved = new Set(await moves.claim(unknown, platform.id))
  for (const rebuild of rebuilds) if (moved.has(rebuild.write.row)) rebuild.isMoved = true
  return rebuilds
}

async function writeRows (rebuilds: readonly Rebuild[], platform: ScannedPlatform, services: PlatformScanServices) {
  const written = await writeInHalves<RomWrite, WrittenRom>(
    rebuilds.map(({ write }) => write),
    (writes) => services.store.write(platform.id, writes),
    ({ row }, err) => {
      services.progress.problem({
        platform: platform.fs_slug, path: `${row.fs_path}/${row.fs_name}`, reason: `it was not stored: ${err.message}`
      })
    }
  )
  return new Map(written.map((rom) => [rom.fs_name, rom]))
}

/** Writes entries whose files were read anew. @returns those that are due for a lookup. */
export async function rebuild (
  taken: readonly Rebuilt[], platform: ScannedPlatform, services: PlatformScanServices, missing: Missing
): Promise<DueRom[]> {
  const { progress, type, selected, announcer, statistics } = services
  const rebuilds = await toRebuilds(taken, platform, services.moves, missing)
  if (type === 'complete') await services.dropArtwork(rebuilds.flatMap(({ write }) => write.row.id ?? []), platform)
  const written = await writeRows(rebuilds, platform, services)
  statistics.added(rebuilds.filter(({ write }) => write.row.id === null).length)
  const due: DueRom[] = []
  const changed: number[] = []
  for (const { one, isMoved } of rebuilds) {
    progress.add({ scanned_roms: 1 })
    const rom = written.get(one.entry.fs_name)
    if (rom === undefined) continue
    const isNew = one.known?.is_fresh ?? !isMoved
    progress.add({ new_files: rom.newFiles, ...(isNew ? { new_roms: 1 } : { updated_roms: 1 }) })
    const isDue = isMoved ? takesKnown(type, selected, { is_identified: true, providers: selected }) : one.isTaken
    if (isDue) due.push({ id: rom.id, fs_name: rom.fs_name, isNew, isSettled: false })
    else changed.push(rom.id)
  }
  const isIdentifying = selected.length > 0
  for (const isNew of [true, false]) {
    const ids = due.filter((rom) => rom.isNew === isNew).map((rom) => rom.id)
    await announcer.roms(ids, { is_new: isNew, is_identifying: isIdentifying })
  }
  await announcer.roms(changed, { is_new: false, is_identifying: false })
  return due
}
