import type { Entry } from '../../library/entries.ts'
import type { EntryHasher } from '../../hashing/entry-hasher.ts'
import type { EntryHashes } from '../../hashing/hash-entry.ts'
import { includesKnown } from '../../matching/lookup-plan.ts'
import type { ScannedPlatform } from '../../matching/sdk-rom.ts'
import type { ScanChoice } from '../../matching/scan-types.ts'
import type { KnownRom, RomStore, StoredFile } from '../rom-rows.ts'
import { isUnchanged } from '../entry-rows.ts'

/** An entry on disk beside what is known of it. */
export interface EntryDecision {
  entry: Entry
  known: KnownRom | null
  /** Whether its files are read anew; else `hashes` is null. */
  isRebuilt: boolean
  /** Whether it may be looked up. */
  isTaken: boolean
  /** Whether what its name says replaces what is stored. */
  writesTags: boolean
  hashes: EntryHashes | null
}
export type Rebuilt = EntryDecision & { hashes: EntryHashes }

interface DecideServices {
  choice: ScanChoice
  hasher: EntryHasher
  store: Pick<RomStore, 'listFiles'>
}

/** Entries of one folder beside the ROMs that are known of it. */
export interface Batch {
  platform: ScannedPlatform
  entries: readonly Entry[]
  known: ReadonlyMap<string, KnownRom>
  /** A person named these very ROMs: they are rebuilt whatever the type says. */
  isAsked: boolean
}

/** Decides what is done with entries, and reads the files of those that are rebuilt. */
export function createDecideEntries ({ choice, hasher, store }: DecideServices) {
  const { type } = choice

  function decide (
    entry: Entry, known: KnownRom | null, stored: readonly StoredFile[], isAsked: boolean
  ): Pick<EntryDecision, 'isRebuilt' | 'isTaken' | 'writesTags'> {
    if (known === null) {
      // update and unmatched never add ROMs.
      const isAdded = type !== 'update' && type !== 'unmatched'
      return { isRebuilt: isAdded, isTaken: isAdded, writesTags: true }
    }
    if (isAsked) return { isRebuilt: true, isTaken: true, writesTags: true }
    const isChanged = type === 'quick' && !isUnchanged(entry, stored)
    return {
      isTaken: known.is_fresh || includesKnown(choice, known),
      isRebuilt: isChanged || type === 'complete' || type === 'hashes',
      writesTags: type === 'complete'
    }
  }

  /** Only a quick scan compares; the others rebuild or leave alone whatever the files say. */
  async function readStoredFiles ({ entries, known }: Batch): Promise<Map<number, StoredFile[]>> {
    const ids = type === 'quick' ? entries.flatMap((entry) => known.get(entry.fs_name)?.id ?? []) : []
    return ids.length === 0 ? new Map<number, StoredFile[]>() : await store.listFiles(ids)
  }

  return async function take (batch: Batch): Promise<EntryDecision[]> {
    const { platform, entries, known, isAsked } = batch
    const stored = await readStoredFiles(batch)
    const decided = entries.map((entry) => {
      const rom = known.get(entry.fs_name) ?? null
      const decision = decide(entry, rom, rom === null ? [] : stored.get(rom.id) ?? [], isAsked)
      return { entry, known: rom, ...decision, hashes: null }
    })
    const rebuilt = await Promise.all(decided.filter(({ isRebuilt }) => isRebuilt)
      .map(async (one) => ({ ...one, hashes: await hasher.hashEntry(one.entry, platform.slug) })))
    return [...rebuilt, ...decided.filter(({ isRebuilt }) => !isRebuilt)]
  }
}
export type DecideEntries = ReturnType<typeof createDecideEntries>
