import type { Entry } from '../../library/entries.ts'
import type { EntryHasher } from '../../hashing/entry-hasher.ts'
import type { EntryHashes } from '../../hashing/hash-entry.ts'
import { includesStoredRom } from '../../matching/lookup-plan.ts'
import type { ScannedPlatform } from '../../matching/sdk-rom.ts'
import type { ScanChoice } from '../../matching/scan-types.ts'
import type { StoredRomSummary, RomStore, StoredFile } from '../rom-rows.ts'
import { isUnchanged } from '../entry-rows.ts'

/** An entry on disk with its stored ROM, and what the scan does with it. */
export interface EntryDecision {
  entry: Entry
  known: StoredRomSummary | null
  /** True if the scan reads the files again; otherwise `hashes` is null. */
  isRebuilt: boolean
  /** True if the entry may be looked up at providers. */
  isLookupAllowed: boolean
  /** True if the tags in the file name replace the stored ones. */
  writesTags: boolean
  hashes: EntryHashes | null
}
export type RebuiltEntry = EntryDecision & { hashes: EntryHashes }

interface DecideServices {
  choice: ScanChoice
  hasher: EntryHasher
  store: Pick<RomStore, 'listFiles'>
}

/** Entries of one folder, with the ROMs that are stored for this folder. */
export interface EntryBatch {
  platform: ScannedPlatform
  entries: readonly Entry[]
  known: ReadonlyMap<string, StoredRomSummary>
  /** True if a person named these ROMs: they are rebuilt with every type of scan. */
  isNamed: boolean
}

/** Decides what the scan does with entries, and hashes the files of those that are rebuilt. */
export function createDecideEntries ({ choice, hasher, store }: DecideServices) {
  const { type } = choice

  function decide (
    entry: Entry, known: StoredRomSummary | null, stored: readonly StoredFile[], isNamed: boolean
  ): Pick<EntryDecision, 'isRebuilt' | 'isLookupAllowed' | 'writesTags'> {
    if (known === null) {
      // update and unmatched never add ROMs.
      const isAdded = type !== 'update' && type !== 'unmatched'
      return { isRebuilt: isAdded, isLookupAllowed: isAdded, writesTags: true }
    }
    if (isNamed) return { isRebuilt: true, isLookupAllowed: true, writesTags: true }
    const isChanged = type === 'quick' && !isUnchanged(entry, stored)
    return {
      isLookupAllowed: known.is_fresh || includesStoredRom(choice, known),
      isRebuilt: isChanged || type === 'complete' || type === 'hashes',
      writesTags: type === 'complete'
    }
  }

  /** Returns the stored files for a quick scan. Scans of other types do not compare files. */
  async function readStoredFiles ({ entries, known }: EntryBatch): Promise<Map<number, StoredFile[]>> {
    const ids = type === 'quick' ? entries.flatMap((entry) => known.get(entry.fs_name)?.id ?? []) : []
    return ids.length === 0 ? new Map<number, StoredFile[]>() : await store.listFiles(ids)
  }

  return async function decideBatch (batch: EntryBatch): Promise<EntryDecision[]> {
    const { platform, entries, known, isNamed } = batch
    const stored = await readStoredFiles(batch)
    const decided = entries.map((entry) => {
      const rom = known.get(entry.fs_name) ?? null
      const decision = decide(entry, rom, rom === null ? [] : stored.get(rom.id) ?? [], isNamed)
      return { entry, known: rom, ...decision, hashes: null }
    })
    const rebuilt = await Promise.all(decided.filter(({ isRebuilt }) => isRebuilt)
      .map(async (one) => ({ ...one, hashes: await hasher.hashEntry(one.entry, platform.slug) })))
    return [...rebuilt, ...decided.filter(({ isRebuilt }) => !isRebuilt)]
  }
}
export type DecideEntries = ReturnType<typeof createDecideEntries>
