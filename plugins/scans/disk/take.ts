import type { Entry } from '../../library/entries.ts'
import { takesKnown } from '../identify/plan.ts'
import type { PlatformScanServices } from '../run/platform-services.ts'
import { addRaHash, consoleBeside } from '../hashing/ra-hash.ts'
import { type EntryHashes, hashEntry, isUnchanged, unhashed } from '../store/rows-of-entry.ts'
import type { KnownRom, StoredFile } from '../store/rom-rows.ts'
import type { ScannedPlatform } from '../identify/sdk-rom.ts'

/** An entry on disk beside what is known of it. */
export interface Taken {
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
export type Rebuilt = Taken & { hashes: EntryHashes }

function decide (
  entry: Entry, known: KnownRom | null, stored: readonly StoredFile[], services: PlatformScanServices, isAsked: boolean
): Pick<Taken, 'isRebuilt' | 'isTaken' | 'writesTags'> {
  const { type, selected } = services
  if (known === null) {
    // update and unmatched never add ROMs.
    const isAdded = type !== 'update' && type !== 'unmatched'
    return { isRebuilt: isAdded, isTaken: isAdded, writesTags: true }
  }
  if (isAsked) return { isRebuilt: true, isTaken: true, writesTags: true }
  const isChanged = type === 'quick' && !isUnchanged(entry, stored)
  return {
    isTaken: known.is_fresh || takesKnown(type, selected, known),
    isRebuilt: isChanged || type === 'complete' || type === 'hashes',
    writesTags: type === 'complete'
  }
}

async function hashOne (entry: Entry, platform: ScannedPlatform, services: PlatformScanServices): Promise<EntryHashes> {
  const { hasher, signal } = services
  const raConsole = services.raConsole(platform.slug)
  const plain = services.hashes(platform.slug)
    ? await hashEntry(entry, consoleBeside(entry, raConsole), hasher, signal)
    : unhashed(entry)
  const hashes = raConsole === null ? plain : await addRaHash(entry, plain, raConsole, hasher, signal)
  for (const warning of hashes.warnings) services.progress.problem({ platform: platform.fs_slug, ...warning })
  return hashes
}

/** Only a quick scan compares; the others rebuild or leave alone whatever the files say. */
async function readStoredFiles (
  entries: readonly Entry[], known: ReadonlyMap<string, KnownRom>, services: PlatformScanServices
): Promise<Map<number, StoredFile[]>> {
  const ids = services.type === 'quick' ? entries.flatMap((entry) => known.get(entry.fs_name)?.id ?? []) : []
  return ids.length === 0 ? new Map<number, StoredFile[]>() : await services.store.listFiles(ids)
}

/**
 * Decides what is done with entries and reads the files of those that are rebuilt.
 *
 * @param isAsked a person named these very ROMs: they are rebuilt whatever the type says
 */
export async function takeEntries (
  entries: readonly Entry[], platform: ScannedPlatform, services: PlatformScanServices,
  known: ReadonlyMap<string, KnownRom>, isAsked: boolean
): Promise<Taken[]> {
  const stored = await readStoredFiles(entries, known, services)
  return await Promise.all(entries.map(async (entry) => {
    const rom = known.get(entry.fs_name) ?? null
    const decision = decide(entry, rom, rom === null ? [] : stored.get(rom.id) ?? [], services, isAsked)
    const hashes = decision.isRebuilt ? await hashOne(entry, platform, services) : null
    return { entry, known: rom, ...decision, hashes }
  }))
}
