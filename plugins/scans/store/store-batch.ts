import type { MissingRoms } from '../disk/missing-roms.ts'
import { type EntryDecision, type RebuiltEntry, isRebuilt } from '../disk/decide-entries.ts'
import type { DueRom } from '../identify/due-rom.ts'
import type { ScannedPlatform } from '../../matching/sdk-rom.ts'
import type { Announcer } from '../progress/announcer.ts'
import type { PartLeases } from '../parts/part-leases.ts'
import type { Rebuild } from './rebuild-roms.ts'
import { markMissing } from '../rom-rows.ts'

interface StoreBatchServices {
  rebuild: Rebuild
  identify: (due: readonly DueRom[], platform: ScannedPlatform) => Promise<void>
  parts: Pick<PartLeases, 'of' | 'write'>
  announcer: Announcer
  signal: AbortSignal
}

/** An entry whose stored content stays. */
type RemainingEntry = Exclude<EntryDecision, RebuiltEntry>

function listDue (entries: readonly RemainingEntry[]): DueRom[] {
  return entries.flatMap((one): DueRom[] => {
    if (one.kind === 'ignored') return []
    const { known: { id, fs_name: name, is_fresh: isFresh, is_unfinished: isUnfinished, providers }, isDue } = one
    if (isFresh || (!isDue && isUnfinished)) {
      return [{ id, fs_name: name, history: providers.length > 0 ? 'resumed' : 'new' }]
    }
    return isDue ? [{ id, fs_name: name, history: 'known' }] : []
  })
}

/** Stores the decisions of a batch, and queues the due ROMs for their lookups. */
export function createStoreBatch ({ rebuild, identify, parts, announcer, signal }: StoreBatchServices) {
  /** Updates ROMs that are not rebuilt. */
  async function storeRows (entries: readonly RemainingEntry[], platform: ScannedPlatform): Promise<DueRom[]> {
    const roms = entries.flatMap((one) => one.kind === 'unchanged' ? [one.known] : [])
    const returned = roms.filter((rom) => rom.missing_from_fs)
    if (returned.length > 0) await parts.write([platform], (db) => markMissing(db, returned, false))
    await announcer.roms(returned.map((rom) => rom.id), { is_new: false, is_identifying: false })
    // A worker that lost this part may have stored ROMs without reporting them.
    const fresh = roms.filter((rom) => rom.is_fresh)
    const freshFiles = fresh.reduce((sum, rom) => sum + rom.fresh_files, 0)
    parts.of(platform).add({ scanned_roms: entries.length, new_roms: fresh.length, new_files: freshFiles })
    return listDue(entries)
  }

  return async function storeBatch (
    decisions: readonly EntryDecision[], platform: ScannedPlatform, missing: MissingRoms
  ): Promise<void> {
    signal.throwIfAborted()
    const due = await rebuild(decisions.filter(isRebuilt), platform, missing)
    const remaining = decisions.filter((decision): decision is RemainingEntry => !isRebuilt(decision))
    due.push(...await storeRows(remaining, platform))
    await identify(due, platform)
  }
}
export type StoreBatch = ReturnType<typeof createStoreBatch>
