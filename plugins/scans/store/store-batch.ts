import type { MissingRoms } from '../disk/missing-roms.ts'
import type { RebuiltEntry, EntryDecision } from '../disk/decide-entries.ts'
import type { DueRom } from '../identify/due-rom.ts'
import type { ScannedPlatform } from '../../matching/sdk-rom.ts'
import type { Announcer } from '../progress/announcer.ts'
import type { Progress } from '../progress/scan-progress.ts'
import type { Rebuild } from './rebuild-roms.ts'
import type { RomStore } from '../rom-rows.ts'

interface StoreBatchServices {
  rebuild: Rebuild
  store: Pick<RomStore, 'markMissing'>
  identify: (due: readonly DueRom[], platform: ScannedPlatform) => Promise<void>
  progress: Pick<Progress, 'add'>
  announcer: Announcer
  signal: AbortSignal
}

const isRebuilt = (decision: EntryDecision): decision is RebuiltEntry => decision.hashes !== null

/** Stores the decisions of a batch, and queues the due ROMs for their lookups. */
export function createStoreBatch ({ rebuild, store, identify, progress, announcer, signal }: StoreBatchServices) {
  /** Updates ROMs that are not rebuilt. @param unfinished ROMs that scans added which failed or were stopped */
  async function storeRows (unchanged: readonly EntryDecision[], unfinished: ReadonlySet<number>): Promise<DueRom[]> {
    const returned = unchanged.flatMap(({ known }) => known?.missing_from_fs === true ? [known.id] : [])
    await store.markMissing(returned, false)
    await announcer.roms(returned, { is_new: false, is_identifying: false })
    progress.add(
      { scanned_roms: unchanged.length, new_roms: unchanged.filter(({ known }) => known?.is_fresh === true).length }
    )
    return unchanged.flatMap(({ known, isLookupAllowed }) => {
      const isNew = known !== null && (known.is_fresh || (!isLookupAllowed && unfinished.has(known.id)))
      if (known === null || (!isLookupAllowed && !isNew)) return []
      return { id: known.id, fs_name: known.fs_name, isNew, isLookedUp: isNew && known.providers.length > 0 }
    })
  }

  return async function storeBatch (
    decisions: readonly EntryDecision[], platform: ScannedPlatform, missing: MissingRoms,
    unfinished: ReadonlySet<number>
  ): Promise<void> {
    signal.throwIfAborted()
    const due = await rebuild(decisions.filter(isRebuilt), platform, missing)
    due.push(...await storeRows(decisions.filter((decision) => !isRebuilt(decision)), unfinished))
    await identify(due, platform)
  }
}
export type StoreBatch = ReturnType<typeof createStoreBatch>
