import type { Db } from '../../../core/database/db.ts'
import type { Entry, EntryListing } from '../../entries/entries.ts'
import type { DirectoryItem } from '../../library/directory.ts'
import type { ScanChoice } from '../../matching/scan-types.ts'
import { readAhead } from '../../entries/walk.ts'
import { inBatches } from './entry-batches.ts'
import { createMissingRoms } from '../disk/missing-roms.ts'
import type { FactsByName, KnownFiles } from '../disk/unchanged-files.ts'
import type { FolderSnapshot } from '../disk/folder-snapshot.ts'
import type { PlatformFolders } from '../disk/platform-folder.ts'
import { type DecideEntries, type EntryDecision, isRebuilt } from '../disk/decide-entries.ts'
import type { EntryHasher } from '../../hashing/entry-hasher.ts'
import type { ScannedPlatform } from '../../matching/sdk-rom.ts'
import { type StoredRomSummary, listKnown, markMissing } from '../rom-rows.ts'
import type { StoreBatch } from '../store/store-batch.ts'
import type { PartLeases } from '../parts/part-leases.ts'
import type { UnfinishedRoms } from './unfinished-rows.ts'

/** Batches that are written at the same time, over as many connections. */
const STORED_AT_ONCE = 2

/** The stages of a platform scan: open the folder, decide batch by batch, store. */
interface PlatformScanServices {
  choice: ScanChoice
  folders: PlatformFolders
  decideEntries: DecideEntries
  hasher: Pick<EntryHasher, 'isHashed'>
  storeBatch: StoreBatch
  db: Db
  unfinished: UnfinishedRoms
  parts: Pick<PartLeases, 'of' | 'write'>
  signal: AbortSignal
}

/** A platform folder that is being read. */
interface PlatformReading extends KnownFiles {
  platform: ScannedPlatform
  folder: FolderSnapshot
  /** The only names that are read; undefined for all. */
  names?: Pick<ReadonlySet<string>, 'has'>
  /** True if a person named the ROMs. */
  isNamed: boolean
}

/** Keeps the stored hashes of a known ROM if none of its files could be read; the reported problem tells why. */
function withStoredHashes (decision: EntryDecision): EntryDecision {
  if (!isRebuilt(decision) || decision.kind === 'new' || decision.hashes.files.some((file) => file !== null)) return decision
  const { kind, entry, known } = decision
  return { kind: 'unchanged', entry, known, isDue: kind === 'rebuilt' || decision.isDue }
}

const NO_FACTS: FactsByName = new Map()
const byName = (roms: readonly StoredRomSummary[]) => new Map(roms.map((rom) => [rom.fs_name, rom]))
const countPresent = (roms: readonly StoredRomSummary[]) => roms.filter((rom) => !rom.missing_from_fs).length

/** Decides a batch. If its disk is gone, throws, because its files would otherwise be stored as unreadable. */
async function decideBatch (
  services: PlatformScanServices, entries: readonly Entry[], { platform, known, folder, isNamed }: PlatformReading
): Promise<EntryDecision[]> {
  const { folders, decideEntries, hasher, parts } = services
  const decisions = await decideEntries({ entries, platform, known, isNamed })
  const isHashed = hasher.isHashed(platform.slug)
  const hashes = decisions.filter(isRebuilt).map((decision) => decision.hashes)
  const isUnread = isHashed && hashes.some(({ files }) => files.includes(null))
  // One problem about a lost disk says more than a problem for each of its files.
  if (isUnread) await folders.check(platform, folder)
  for (const warning of hashes.flatMap(({ warnings }) => warnings)) {
    parts.of(platform).problem({ platform: platform.fs_slug, ...warning })
  }
  return isHashed ? decisions.map(withStoredHashes) : decisions
}

async function * decideAll (
  services: PlatformScanServices, batches: AsyncIterable<Entry[]>, reading: PlatformReading
): AsyncGenerator<EntryDecision[]> {
  for await (const batch of batches) yield await decideBatch(services, batch, reading)
}

/**
 * Lists the entries that a scan decides about: first those without a row, because people wait for new games to be
 * listed. A quick scan skips unchanged files.
 *
 * @param skip called with the names of skipped files
 */
function listInOrder (
  services: PlatformScanServices, { platform, folder, known, facts, names, isNamed }: PlatformReading,
  skip: (names: ReadonlySet<string>) => void
) {
  const { choice, folders, signal } = services
  const listings: EntryListing[] = []

  async function * read (items: readonly DirectoryItem[]): AsyncGenerator<Entry[]> {
    if (items.length === 0) return
    const listing = folders.list(platform, items, signal)
    listings.push(listing)
    yield * inBatches(listing.entries)
  }

  async function listChanged (items: DirectoryItem[]): Promise<DirectoryItem[]> {
    if (isNamed || choice.type !== 'quick') return items
    const changed: DirectoryItem[] = []
    for await (const batch of folders.compare(platform, items, { known, facts }, signal)) {
      skip(batch.unchanged)
      changed.push(...batch.others)
    }
    return changed
  }

  async function * list (): AsyncGenerator<Entry[]> {
    const items = folders.select(folder, names)
    yield * read(items.filter(({ name }) => !known.has(name)))
    yield * read(await listChanged(items.filter(({ name }) => known.has(name))))
  }

  return { batches: list(), listProblems: () => listings.flatMap(({ problems }) => problems) }
}

/**
 * Lists, hashes and stores at the same time; each stage runs one batch ahead of the next.
 *
 * @param missingRoms known ROMs whose file is not there under their name
 * @returns the names that were there, the names of folders without files, and the ROMs of `missingRoms` that no entry
 * claimed
 */
async function readEntries (
  services: PlatformScanServices, reading: PlatformReading, missingRoms: readonly StoredRomSummary[]
) {
  const { folders, storeBatch, db, parts } = services
  const { platform, folder } = reading
  const missing = createMissingRoms(missingRoms, db)
  const seen = new Set<string>()
  const { batches, listProblems } = listInOrder(services, reading, (unchanged) => {
    for (const name of unchanged) seen.add(name)
    parts.of(platform).add({ scanned_roms: unchanged.size })
  })
  const decided = readAhead(decideAll(services, readAhead(batches), reading))
  const storing: Promise<void>[] = []
  try {
    for await (const decisions of decided) {
      for (const { entry } of decisions) seen.add(entry.fs_name)
      if (storing.length === STORED_AT_ONCE) await storing.shift()
      const stored = storeBatch(decisions, platform, missing)
      stored.catch(() => { /* `await` of the promise throws the error */ })
      storing.push(stored)
    }
  } finally {
    // Wait for all writes, also those after a failed one, because nothing may be written after this point.
    await Promise.allSettled(storing)
  }
  await Promise.all(storing)
  const problems = listProblems()
  if (problems.length > 0) await folders.check(platform, folder)
  const emptied = new Set<string>()
  for (const { path, reason, fs_name: name, is_empty: isEmpty = false } of problems) {
    parts.of(platform).problem({ platform: platform.fs_slug, path, reason })
    ;(isEmpty ? emptied : seen).add(name)
  }
  return { seen, emptied, absent: new Set(missing.ids()) }
}

/**
 * Reads the folder of a platform and the ROMs that are stored for it.
 *
 * @param isWhole true if all its entries are scanned
 */
async function openPlatform (
  { choice: { type }, folders, db, unfinished }: PlatformScanServices, platform: ScannedPlatform, isWhole: boolean
) {
  const listing = listKnown(db, platform, { ...unfinished, type })
  async function readFolder () {
    const folder = await folders.open(platform)
    const facts = isWhole && type === 'quick' ? await folders.readFacts(platform, folder, listing) : NO_FACTS
    return { folder, facts }
  }
  const [roms, { folder, facts }] = await Promise.all([listing, readFolder()])
  await folders.checkMounted(platform, folder, countPresent(roms))
  return { roms, folder, facts }
}

/** Scans the folder of one platform. */
export function createPlatformScan (services: PlatformScanServices) {
  const { folders, parts } = services

  async function storeMissing (platform: ScannedPlatform, roms: readonly StoredRomSummary[]): Promise<void> {
    if (roms.length > 0) await parts.write([platform], (db) => markMissing(db, roms, true))
  }

  return {
    /** Finds, hashes and stores all ROMs of a platform, and marks those that are gone. */
    async scanAll (platform: ScannedPlatform): Promise<void> {
      const { roms, folder, facts } = await openPlatform(services, platform, true)
      const reading = { platform, folder, facts, known: byName(roms), isNamed: false }
      const withoutFile = roms.filter((rom) => !folder.items.has(rom.fs_name))
      const { seen, emptied, absent } = await readEntries(services, reading, withoutFile)
      const after = await folders.readAgain(platform, folder)
      // A name on disk that is no ROM any more, such as an excluded one, is gone as well. An unreadable one is not.
      const missingRoms = roms.filter(({ id, fs_name: name }) =>
        !seen.has(name) && (emptied.has(name) || !folders.hasEntry(after, name)) &&
          (folder.items.has(name) || absent.has(id)))
      await storeMissing(platform, missingRoms)
      await folders.storeFolder(platform, after)
    },

    /** Scans only some ROMs; no other is marked missing. */
    async scanNamed (platform: ScannedPlatform, ids: ReadonlySet<number>): Promise<void> {
      const { roms: all, folder, facts } = await openPlatform(services, platform, false)
      const roms = all.filter((rom) => ids.has(rom.id))
      const known = byName(roms)
      const reading = { platform, folder, facts, known, names: known, isNamed: true }
      const { seen, emptied } = await readEntries(services, reading, [])
      const after = await folders.readAgain(platform, folder)
      const missingRoms = roms.filter(({ fs_name: name }) =>
        !seen.has(name) && (emptied.has(name) || !after.items.has(name)))
      await storeMissing(platform, missingRoms)
      parts.of(platform).add({ scanned_roms: missingRoms.length })
    },

    /** Scans only some entries, also those that are no ROM yet. One of them may be a missing ROM that is back. */
    async scanEntries (platform: ScannedPlatform, names: ReadonlySet<string>): Promise<void> {
      const { roms: all, folder, facts } = await openPlatform(services, platform, false)
      const known = byName(all.filter((rom) => names.has(rom.fs_name)))
      const missingRoms = all.filter((rom) => !folder.items.has(rom.fs_name))
      await readEntries(services, { platform, folder, facts, known, names, isNamed: false }, missingRoms)
      await folders.storeFolder(platform, await folders.readAgain(platform, folder))
    }
  }
}
export type PlatformScan = ReturnType<typeof createPlatformScan>
