import type { Db } from '../../../core/database/db.ts'
import type { Entry } from '../../entries/entries.ts'
import type { EntryHasher } from '../../hashing/entry-hasher.ts'
import type { EntryHashes } from '../../hashing/hash-entry.ts'
import { includesStoredRom } from '../../matching/lookup-plan.ts'
import type { ScannedPlatform } from '../../matching/sdk-rom.ts'
import type { ScanChoice } from '../../matching/scan-types.ts'
import { type StoredFile, type StoredRomSummary, listFiles } from '../rom-rows.ts'
import { isUnchanged } from '../entry-rows.ts'

/** An entry whose files the scan reads. */
export type RebuiltEntry =
  /** The entry has no row. It may turn out to be a missing ROM under another name. */
  { kind: 'new', entry: Entry, hashes: EntryHashes } |
  /** The files changed, or the scan renews all hashes. The stored tags of the file name stay. */
  { kind: 'changed', entry: Entry, known: StoredRomSummary, isDue: boolean, hashes: EntryHashes } |
  /** The scan is complete, or a person named the ROM: all values are read again, and the ROM is due for a lookup. */
  { kind: 'rebuilt', entry: Entry, known: StoredRomSummary, hashes: EntryHashes }

/** An entry on disk, and what the scan does with it. `isDue` is true if the ROM is due for a lookup. */
export type EntryDecision = RebuiltEntry |
  { kind: 'unchanged', entry: Entry, known: StoredRomSummary, isDue: boolean } |
  /** The entry has no row, and scans of this type add none. */
  { kind: 'ignored', entry: Entry }

type WithoutHashes<Decision> = Decision extends unknown ? Omit<Decision, 'hashes'> : never
type Unread = WithoutHashes<EntryDecision>

export const isRebuilt = (decision: EntryDecision): decision is RebuiltEntry => 'hashes' in decision

const mustBeRead = (decision: Unread): decision is WithoutHashes<RebuiltEntry> =>
  decision.kind !== 'unchanged' && decision.kind !== 'ignored'

interface DecideServices {
  choice: ScanChoice
  hasher: EntryHasher
  db: Db
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
export function createDecideEntries ({ choice, hasher, db }: DecideServices) {
  const { type } = choice
  const addsRoms = type !== 'update' && type !== 'unmatched'

  function decide (
    entry: Entry, { known: roms, isNamed }: EntryBatch, files: ReadonlyMap<number, StoredFile[]>
  ): Unread {
    const known = roms.get(entry.fs_name)
    if (known === undefined) return { kind: addsRoms ? 'new' : 'ignored', entry }
    if (isNamed || type === 'complete') return { kind: 'rebuilt', entry, known }
    const isChanged = type === 'hashes' || (type === 'quick' && !isUnchanged(entry, files.get(known.id) ?? []))
    const isDue = known.is_fresh || includesStoredRom(choice, known)
    return { kind: isChanged ? 'changed' : 'unchanged', entry, known, isDue }
  }

  /** Returns the stored files for a quick scan. Scans of other types do not compare files. */
  async function readStoredFiles ({ entries, known }: EntryBatch): Promise<Map<number, StoredFile[]>> {
    const ids = type === 'quick' ? entries.flatMap((entry) => known.get(entry.fs_name)?.id ?? []) : []
    return ids.length === 0 ? new Map<number, StoredFile[]>() : await listFiles(db, ids)
  }

  return async function decideBatch (batch: EntryBatch): Promise<EntryDecision[]> {
    const files = await readStoredFiles(batch)
    const decided = batch.entries.map((entry) => decide(entry, batch, files))
    const rebuilt = await Promise.all(decided.filter(mustBeRead)
      .map(async (one) => ({ ...one, hashes: await hasher.hashEntry(one.entry, batch.platform.slug) })))
    return [...rebuilt, ...decided.filter((one) => !mustBeRead(one))]
  }
}
export type DecideEntries = ReturnType<typeof createDecideEntries>
