import { join } from 'node:path'
import type { Hasher } from '../../core/hashing/hasher.ts'
import { type Entry, listEntries } from '../../core/library/entries.ts'
import type { ExclusionRules } from '../../core/library/exclusions.ts'
import { readLibraryDirectory } from '../../core/library/directory.ts'
import type { DueRom, ScannedPlatform } from './identification.ts'
import { takesKnown } from './lookups.ts'
import type { Progress } from './progress.ts'
import { type EntryHashes, hashEntry, isUnchanged, toFileRows, toRomRow, unhashed } from './rom-rows.ts'
import type { KnownRom, RomStore, StoredFile } from './rom-store.ts'
import type { ScanType } from './schemas.ts'

export interface PlatformScanServices {
  libraryDir: string
  rules: ExclusionRules
  type: ScanType
  /** Keys of the selected providers that can be asked. */
  selected: readonly string[]
  store: RomStore
  hasher: Hasher
  /** Whether files of a platform are hashed at all. */
  hashes: (slug: string) => boolean
  progress: Progress
  signal: AbortSignal
  announce (ids: readonly number[], flags: { is_new: boolean, is_identifying: boolean }): Promise<void>
  identify (due: readonly DueRom[], platform: ScannedPlatform): Promise<void>
  /** Forgets stored artwork before a ROM is scanned from scratch. */
  dropArtwork (ids: readonly number[], platform: ScannedPlatform): Promise<void>
}

/** An entry on disk beside what is known of it. */
interface Taken { entry: Entry, known: KnownRom | null, isRebuilt: boolean, isTaken: boolean }

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

/** Scans one platform's folder: finds, hashes and stores its ROMs, and hands those that are due to the providers. */
export async function scanPlatform (platform: ScannedPlatform, services: PlatformScanServices): Promise<void> {
  const { store, progress, signal, rules } = services
  const known = new Map((await store.listKnown(platform.id)).map((rom) => [rom.fs_name, rom]))
  const names = new Set((await readLibraryDirectory(join(services.libraryDir, platform.fs_path))).map((item) => item.name))
  const gone = [...known.values()].filter((rom) => !names.has(rom.fs_name))
  /** Rows whose file is gone and that no new file was found to be. */
  const missing = new Map(gone.map((rom) => [rom.id, rom]))
  const seen = new Set<string>()

  const listing = listEntries({ libraryDir: services.libraryDir, folder: platform.fs_path, rules, signal })
  for await (const batch of inBatches(listing.entries, BATCH)) {
    signal.throwIfAborted()
    batch.forEach((entry) => { seen.add(entry.fs_name) })
    await scanBatch(batch, platform, services, known, missing)
  }
  for (const { path, reason, fs_name: name } of listing.problems) {
    progress.problem({ platform: platform.fs_slug, path, reason })
    seen.add(name)
  }
  // Names that are on disk but no ROM any more, such as an excluded one, are gone as well; unreadable ones are not.
  const vanished = [...known.values()].filter((rom) => missing.has(rom.id) || (names.has(rom.fs_name) && !seen.has(rom.fs_name)))
  await store.markMissing(vanished.map((rom) => rom.id), true)
}

async function scanBatch (
  batch: Entry[], platform: ScannedPlatform, services: PlatformScanServices, known: Map<string, KnownRom>, missing: Map<number, KnownRom>
): Promise<void> {
  const { store, progress } = services
  const storedFiles = await readStoredFiles(batch, known, services)
  const taken = batch.map((entry) => take(entry, known.get(entry.fs_name) ?? null, storedFiles, services))
  await rebuild(taken.filter((one) => one.isRebuilt), platform, services, missing)
  const back = taken.flatMap(({ known: rom, isRebuilt }) => rom?.missing_from_fs === true && !isRebuilt ? [rom.id] : [])
  await store.markMissing(back, false)
  await services.announce(back, { is_new: false, is_identifying: false })
  const due = taken.flatMap(({ known: rom, isTaken, isRebuilt }) =>
    rom !== null && isTaken && !isRebuilt ? [{ id: rom.id, isNew: false }] : [])
  progress.add({ scanned_roms: batch.length - taken.filter((one) => one.isRebuilt).length })
  await services.identify(due, platform)
}

/** Only a quick scan compares; the others rebuild or leave alone whatever the files say. */
async function readStoredFiles (batch: Entry[], known: Map<string, KnownRom>, { type, store }: PlatformScanServices) {
  if (type !== 'quick') return new Map<number, StoredFile[]>()
  const ids = batch.flatMap((entry) => known.get(entry.fs_name)?.id ?? [])
  return ids.length === 0 ? new Map<number, StoredFile[]>() : await store.listFiles(ids)
}

function take (entry: Entry, known: KnownRom | null, files: Map<number, StoredFile[]>, services: PlatformScanServices): Taken {
  const { type, selected } = services
  if (known === null) {
    // update and unmatched never add ROMs.
    const isAdded = type !== 'update' && type !== 'unmatched'
    return { entry, known, isRebuilt: isAdded, isTaken: isAdded }
  }
  const isTaken = takesKnown(type, selected, known)
  const isChanged = type === 'quick' && !isUnchanged(entry, files.get(known.id) ?? [])
  return { entry, known, isTaken, isRebuilt: isChanged || type === 'complete' || type === 'hashes' }
}

/** Reads the files of entries anew and writes their rows; a new entry that is a vanished one renamed keeps its row. */
async function rebuild (
  taken: Taken[], platform: ScannedPlatform, services: PlatformScanServices, missing: Map<number, KnownRom>
): Promise<void> {
  if (taken.length === 0) return
  const { store, progress, type, signal } = services
  const hashed = await Promise.all(taken.map((one) => hashOne(one.entry, platform, services)))
  const isMoved = new Set<number>()
  const roms = []
  for (const [index, one] of taken.entries()) {
    const hashes = hashed[index] ?? unhashed(one.entry)
    const writesTags = one.known === null || type === 'complete'
    const row = toRomRow(one.entry, platform.fs_path, hashes, one.known?.id ?? null, writesTags)
    if (one.known === null && missing.size > 0) {
      row.id = await store.findMoved(platform.id, row, [...missing.keys()])
      if (row.id !== null) {
        missing.delete(row.id)
        isMoved.add(row.id)
      }
    }
    roms.push({ row, files: toFileRows(one.entry, hashes) })
  }
  signal.throwIfAborted()
  if (type === 'complete') await services.dropArtwork(taken.flatMap((one) => one.known?.id ?? []), platform)
  const written = new Map((await store.write(platform.id, roms)).map((rom) => [rom.fs_name, rom]))
  const fresh: DueRom[] = []
  const due: DueRom[] = []
  for (const one of taken) {
    const rom = written.get(one.entry.fs_name)
    if (rom === undefined) continue
    const isNew = one.known === null && !isMoved.has(rom.id)
    progress.add({ scanned_roms: 1, new_files: rom.newFiles, ...(isNew ? { new_roms: 1 } : { updated_roms: 1 }) })
    if (isNew) fresh.push({ id: rom.id, isNew })
    else if (one.isTaken && one.known !== null) due.push({ id: rom.id, isNew })
  }
  const willIdentify = services.selected.length > 0
  await services.announce(fresh.map((rom) => rom.id), { is_new: true, is_identifying: willIdentify })
  await services.identify([...fresh, ...due], platform)
}

async function hashOne (entry: Entry, platform: ScannedPlatform, services: PlatformScanServices): Promise<EntryHashes> {
  if (!services.hashes(platform.slug)) return unhashed(entry)
  const hashes = await hashEntry(entry, services.hasher, services.signal)
  for (const { path, reason } of hashes.warnings) services.progress.problem({ platform: platform.fs_slug, path, reason })
  return hashes
}
