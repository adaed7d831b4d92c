import type { Missing } from '../disk/missing-roms.ts'
import type { Rebuilt, EntryDecision } from '../disk/decide-entries.ts'
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

const isRebuilt = (one: EntryDecision): one is Rebuilt => one.hashes !== null

/** Stores the decisions of a batch, and queues the due ROMs for their lookups. */
export function createStoreBatch ({ rebuild, store, identify, progress, announcer, signal }: StoreBatchServices) {
  /** Updates ROMs that are not rebuilt. @param unfinished ROMs that scans added which failed or were stopped */
  async function storeRows (kept: readonly EntryDecision[], unfinished: ReadonlySet<number>): Promise<DueRom[]> {
    const back = kept.flatMap(({ known }) => known?.missing_from_fs === true ? [known.id] : [])
    await store.markMissing(back, false)
    await announcer.roms(back, { is_new: false, is_identifying: false })
    progress.add({ scanned_roms: kept.length, new_roms: kept.filter(({ known }) => known?.is_fresh === true).length })
    return kept.flatMap(({ known, isTaken }) => {
      const isNew = known !== null && (known.is_fresh || (!isTaken && unfinished.has(known.id)))
      if (known === null || (!isTaken && !isNew)) return []
      return { id: known.id, fs_name: known.fs_name, isNew, isSettled: isNew && known.providers.length > 0 }
    })
  }

  return async function storeBatch (
    taken: readonly EntryDecision[], platform: ScannedPlatform, missing: Missing, unfinished: ReadonlySet<number>
  ): Promise<void> {
    signal.throwIfAborted()
    const due = await rebuild(taken.filter(isRebuilt), platform, missing)
    due.push(...await storeRows(taken.filter((one) => !isRebuilt(one)), unfinished))
    await identify(due, platform)
  }
}
export type StoreBatch = ReturnType<typeof createStoreBatch>
