import { type Entry, listEntries } from '../../library/entries.ts'
import type { ExclusionRules } from '../../library/exclusions.ts'
import { type Missing, createMissing } from '../disk/missing.ts'
import type { FolderLook } from '../disk/platform-folder.ts'
import type { PlatformScanServices } from './platform-services.ts'
import { rebuild } from '../store/rebuild.ts'
import type { KnownRom } from '../store/rom-rows.ts'
import type { ScanProblem } from '../schemas.ts'
import type { ScannedPlatform } from '../identify/sdk-rom.ts'
import { type Rebuilt, type Taken, takeEntries } from '../disk/take.ts'

/** The first batch is small, so that lookups begin early; each further one is larger, up to the largest. */
const FIRST_BATCH = 16
const LARGEST_BATCH = 500
/** Batches that are written at the same time, over as many connections. */
const STORED_AT_ONCE = 2

async function * inBatches<T> (items: AsyncIterable<T>): AsyncGenerator<T[]> {
  let batch: T[] = []
  let size = FIRST_BATCH
  for await (const item of items) {
    batch.push(item)
    if (batch.length < size) continue
    yield batch
    batch = []
    size = Math.min(size * 2, LARGEST_BATCH)
  }
  if (batch.length > 0) yield batch
}

/** The same items, each asked for while the one before it is worked on. */
async function * readAhead<T> (items: AsyncGenerator<T>): AsyncGenerator<T> {
  let next = items.next()
  try {
    for (;;) {
      const result = await next
      if (result.done === true) return
      next = items.next()
      next.catch(() => { /* thrown where it is waited for */ })
      yield result.value
    }
  } finally {
    await items.return(undefined)
  }
}

/** A platform's folder that is being read. */
interface Reading {
  platform: ScannedPlatform
  services: PlatformScanServices
  folder: FolderLook
  known: ReadonlyMap<string, KnownRom>
  /** ROMs that scans added which did not end well. */
  unfinished: ReadonlySet<number>
  /** A person named the ROMs. */
  isAsked: boolean
}

const isRebuilt = (one: Taken): one is Rebuilt => one.hashes !== null

/** Stores what was found out about a batch, and hands those that are due to the providers. */
async function storeBatch (
  taken: readonly Taken[], { platform, services, unfinished }: Reading, missing: Missing
): Promise<void> {
  const { store, progress, announcer, signal } = services
  signal.throwIfAborted()
  const due = await rebuild(taken.filter(isRebuilt), platform, services, missing)
  const kept = taken.filter((one) => !isRebuilt(one))
  const back = kept.flatMap(({ known }) => known?.missing_from_fs === true ? [known.id] : [])
  await store.markMissing(back, false)
  await announcer.roms(back, { is_new: false, is_identifying: false })
  for (const { known, isTaken } of kept) {
    progress.add({ scanned_roms: 1, new_roms: known?.is_fresh === true ? 1 : 0 })
    const isNew = known !== null && (known.is_fresh || (!isTaken && unfinished.has(known.id)))
    if (known === null || (!isTaken && !isNew)) continue
    due.push({ id: known.id, fs_name: known.fs_name, isNew, isSettled: isNew && known.providers.length > 0 })
  }
  await services.identify(due, platform)
}

/** A known ROM none of whose files could be read keeps its hashes; the problem that was told says why. */
function keepUnread (one: Taken): Taken {
  const isUnread = one.known !== null && one.hashes?.files.every((file) => file === null) === true
  return isUnread ? { ...one, isRebuilt: false, hashes: null } : one
}

/** Reads a batch; what cannot be read because its disk is gone is not stored as unreadable. */
async function takeBatch (batch: readonly Entry[], reading: Reading): Promise<Taken[]> {
  const { platform, services, known, folder, isAsked } = reading
  const held: ScanProblem[] = []
  const progress = { ...services.progress, problem: (problem: ScanProblem) => { held.push(problem) } }
  const taken = await takeEntries(batch, platform, { ...services, progress }, known, isAsked)
  const isUnread = ({ hashes }: Taken) => hashes?.files.includes(null) === true
  const isHashed = services.hashes(platform.slug)
  // One sentence about a disk that is gone says more than one about each of its files.
  if (isHashed && taken.some(isUnread)) await services.folders.check(platform, folder)
  for (const problem of held) services.progress.problem(problem)
  return isHashed ? taken.map(keepUnread) : taken
}

/** Lists, hashes and stores at once, each a batch ahead of the next. @returns the names that were there. */
async function scanEntries (reading: Reading, missing: Missing, rules: ExclusionRules): Promise<Set<string>> {
  const { platform, services, folder } = reading
  const { libraryDir, progress, signal } = services
  const seen = new Set<string>()
  const listing = listEntries({ libraryDir, folder: platform.fs_path, rules, items: folder.items, signal })
  const storing: Promise<void>[] = []
  try {
    for await (const batch of readAhead(inBatches(listing.entries))) {
      for (const entry of batch) seen.add(entry.fs_name)
      const taken = await takeBatch(batch, reading)
      if (storing.length === STORED_AT_ONCE) await storing.shift()
      const stored = storeBatch(taken, reading, missing)
      stored.catch(() => { /* thrown where it is waited for */ })
      storing.push(stored)
    }
  } finally {
    // All have to end, also those after one that failed: nothing may be written after that.
    await Promise.allSettled(storing)
  }
  await Promise.all(storing)
  if (listing.problems.length > 0) await services.folders.check(platform, folder)
  for (const { path, reason, fs_name: name } of listing.problems) {
    progress.problem({ platform: platform.fs_slug, path, reason })
    seen.add(name)
  }
  return seen
}

const byName = (roms: readonly KnownRom[]) => new Map(roms.map((rom) => [rom.fs_name, rom]))
const countPresent = (roms: readonly KnownRom[]) => roms.filter((rom) => !rom.missing_from_fs).length

/** Scans one platform's folder: finds, hashes and stores its ROMs, and marks those that are gone. */
export async function scanPlatform (platform: ScannedPlatform, services: PlatformScanServices): Promise<void> {
  const { store, folders, begunAt, rules } = services
  const roms = await store.listKnown(platform.id, begunAt)
  const folder = await folders.open(platform, countPresent(roms))
  const missing = createMissing(roms.filter((rom) => !folder.names.has(rom.fs_name)), store)
  const unfinished = await services.unfinished.listRoms(platform.id)
  const reading = { platform, services, folder, unfinished, known: byName(roms), isAsked: false }
  const seen = await scanEntries(reading, missing, rules)
  const after = await folders.check(platform, folder)
  const absent = new Set(missing.ids())
  // A name that is on disk but no ROM any more, such as an excluded one, is gone as well; an unreadable one is not.
  const gone = roms.filter(({ id, fs_name: name }) =>
    !seen.has(name) && !after.entries.has(name) && (folder.names.has(name) || absent.has(id)))
  await store.markMissing(gone.map((rom) => rom.id), true)
  await folders.remember(platform, after)
}

/** Scans just some ROMs of a platform; no other is marked missing. */
export async function scanNamed (
  platform: ScannedPlatform, ids: ReadonlySet<number>, services: PlatformScanServices
): Promise<void> {
  const { store, folders, rules, progress, begunAt } = services
  const all = await store.listKnown(platform.id, begunAt)
  const roms = all.filter((rom) => ids.has(rom.id))
  const folder = await folders.open(platform, countPresent(all))
  const known = byName(roms)
  const isOther = (name: string) => !known.has(name)
  const only = { ...rules, isExcludedSingle: isOther, isExcludedMulti: isOther }
  const unfinished = await services.unfinished.listRoms(platform.id)
  const reading = { platform, services, folder, unfinished, known, isAsked: true }
  const seen = await scanEntries(reading, createMissing([], store), only)
  const after = await folders.check(platform, folder)
  const gone = roms.filter(({ fs_name: name }) => !seen.has(name) && !after.names.has(name))
  await store.markMissing(gone.map((rom) => rom.id), true)
  progress.add({ scanned_roms: gone.length })
}
