import { join } from 'node:path'
import { readLibraryDirectory } from '../../core/library/directory.ts'
import { listEntries } from '../../core/library/entries.ts'
import type { ExclusionRules } from '../../core/library/exclusions.ts'
import { type Missing, createMissing } from './missing.ts'
import type { PlatformScanServices } from './platform-services.ts'
import { rebuild } from './rebuild.ts'
import type { KnownRom } from './rom-store.ts'
import type { ScannedPlatform } from './sdk-rom.ts'
import { type Rebuilt, type Taken, takeEntries } from './take.ts'

const BATCH = 500

async function * inBatches<T> (items: AsyncIterable<T>, size: number): AsyncGenerator<T[]> {
  let batch: T[] = []
  for await (const item of items) {
    batch.push(item)
    if (batch.length < size) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

const isRebuilt = (one: Taken): one is Rebuilt => one.hashes !== null

/** Stores what was found out about a batch, and hands those that are due to the providers. */
async function storeBatch (
  taken: readonly Taken[], platform: ScannedPlatform, services: PlatformScanServices, missing: Missing
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
    if (known === null || !isTaken) continue
    due.push({
      id: known.id,
      fs_name: known.fs_name,
      isNew: known.is_fresh,
      isSettled: known.is_fresh && known.providers.length > 0
    })
  }
  await services.identify(due, platform)
}

/** Reads and hashes a batch while the one before it is being stored. @returns the names that were there. */
async function scanEntries (
  platform: ScannedPlatform, services: PlatformScanServices, known: ReadonlyMap<string, KnownRom>, missing: Missing,
  rules: ExclusionRules, isAsked: boolean
): Promise<Set<string>> {
  const { libraryDir, progress, signal } = services
  const seen = new Set<string>()
  const listing = listEntries({ libraryDir, folder: platform.fs_path, rules, signal })
  let storing: Promise<void> = Promise.resolve()
  try {
    for await (const batch of inBatches(listing.entries, BATCH)) {
      for (const entry of batch) seen.add(entry.fs_name)
      const taken = await takeEntries(batch, platform, services, known, isAsked)
      await storing
      storing = storeBatch(taken, platform, services, missing)
      storing.catch(() => { /* thrown where it is waited for */ })
    }
  } finally {
    await storing
  }
  for (const { path, reason, fs_name: name } of listing.problems) {
    progress.problem({ platform: platform.fs_slug, path, reason })
    seen.add(name)
  }
  return seen
}

/** Scans one platform's folder: finds, hashes and stores its ROMs, and marks those that are gone. */
export async function scanPlatform (platform: ScannedPlatform, services: PlatformScanServices): Promise<void> {
  const { store, libraryDir, begunAt } = services
  const known = new Map((await store.listKnown(platform.id, begunAt)).map((rom) => [rom.fs_name, rom]))
  const items = await readLibraryDirectory(join(libraryDir, platform.fs_path))
  const names = new Set(items.map((item) => item.name))
  const missing = createMissing([...known.values()].filter((rom) => !names.has(rom.fs_name)), store)
  const seen = await scanEntries(platform, services, known, missing, services.rules, false)
  // A name that is on disk but no ROM any more, such as an excluded one, is gone as well; an unreadable one is not.
  const left = [...known.values()].filter((rom) => names.has(rom.fs_name) && !seen.has(rom.fs_name))
  await store.markMissing([...missing.ids(), ...left.map((rom) => rom.id)], true)
}

/** Scans just some ROMs of a platform; no other is marked missing. */
export async function scanNamed (
  platform: ScannedPlatform, ids: ReadonlySet<number>, services: PlatformScanServices
): Promise<void> {
  const { store, rules, progress, begunAt } = services
  const rows = (await store.listKnown(platform.id, begunAt)).filter((rom) => ids.has(rom.id))
  const known = new Map(rows.map((rom) => [rom.fs_name, rom]))
  const isOther = (name: string) => !known.has(name)
  const only = { ...rules, isExcludedSingle: isOther, isExcludedMulti: isOther }
  const seen = await scanEntries(platform, services, known, createMissing([], store), only, true)
  const gone = rows.filter((rom) => !seen.has(rom.fs_name))
  await store.markMissing(gone.map((rom) => rom.id), true)
  progress.add({ scanned_roms: gone.length })
}
