import { join, relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../../core/database/db.ts'
import { requireFreeSpace } from '../../core/files/free-space.ts'
import { errorCode } from '../../core/files/fs-error.ts'
import { isPresent } from '../../core/files/safe-path.ts'
import type { Entry, EntryFile } from '../entries/entries.ts'
import type { EntryHasher } from '../hashing/entry-hasher.ts'
import type { ExclusionRules } from '../library/exclusions.ts'
import { describeReadOnly } from '../library/read-only.ts'
import type { LibraryRoot } from '../library/roots.ts'
import type { RomWrite } from '../scans/rom-write-rows.ts'
import { toFileRows, toRomRow } from '../scans/entry-rows.ts'
import { type Archives, ArchiveRefusedError } from './archive-in-thread.ts'
import type { NeighbourFiles } from './neighbour-files.ts'
import type { Swap } from './entities.ts'
import { countNeeded, estimate, sizeOf } from './estimate.ts'
import { type Step, decide } from './formats.ts'
import type { FileMaker } from './file-maker.ts'
import { type ConvertibleRom, insertConversion, isNameFree, isScanning, updateSwap } from './rows.ts'
import type { Target } from './schemas.ts'
import { type Staging, stageFiles, toEntry } from './stage-files.ts'
import { type SwapServices, finishConversion } from './swap-files.ts'
import { makeFolder, workName } from './work-folder.ts'

/** The interval at which a waiting conversion checks whether a scan is over. */
const SCAN_POLL_MS = 500

export interface ConvertServices extends SwapServices {
  /** Returns access to the neighbours of the files of a library. */
  openNeighbourFiles (libraryDir: string): NeighbourFiles
  rules: ExclusionRules
  archives: Archives
  hasher: EntryHasher
  make: FileMaker
  signal: AbortSignal
}

/** The result of a conversion, or of a dry run. */
export type Conversion =
  | { left: string }
  | { to: string, bytes_before: number, bytes_after: number }

/** A planned conversion. `root` is the ROM's library. */
interface Plan { root: LibraryRoot, entry: Entry, steps: Step[] }

const NOT_WRITABLE: Record<string, string> = {
  EACCES: 'there is no permission to write', EPERM: 'there is no permission to write'
}

/** Creates the work folder before any work starts. @throws ArchiveRefusedError if the ROM's folder is not writable */
async function openWork (root: LibraryRoot, path: string): Promise<string> {
  try {
    return await makeFolder(root.dir, path)
  } catch (err) {
    if (errorCode(err) === 'EROFS') throw new ArchiveRefusedError(describeReadOnly(root))
    const reason = NOT_WRITABLE[errorCode(err)]
    if (reason === undefined) throw err
    throw new ArchiveRefusedError(`${reason}; make the folder of its platform writable for the server`)
  }
}

async function waitForScan (db: Db, signal: AbortSignal): Promise<void> {
  while (await isScanning(db)) await sleep(SCAN_POLL_MS, undefined, { signal })
}

/** Returns the row to write. Hashes of the content stay if the settings do not let scans read the content. */
function toWrite (rom: ConvertibleRom, entry: Entry, hashes: Awaited<ReturnType<EntryHasher['hashEntry']>>): RomWrite {
  const row = toRomRow({ entry, hashes }, rom.fs_path, { id: rom.id, stored_name: rom.fs_name, writes_tags: false })
  const storedHashes = row.crc_hash === '' ? { crc_hash: rom.crc_hash, md5_hash: rom.md5_hash, sha1_hash: rom.sha1_hash } : {}
  return { row: { ...row, ...storedHashes, ra_hash: row.ra_hash ?? rom.ra_hash }, files: toFileRows({ entry, hashes }) }
}

const bytesOf = (files: readonly EntryFile[]) => files.reduce((sum, file) => sum + file.file_size_bytes, 0)

async function requireSpace (archives: Archives, folder: string, steps: readonly Step[]): Promise<void> {
  let bytes = 0
  for (const step of steps) bytes += await countNeeded(step, archives)
  await requireFreeSpace(folder, bytes)
}

/** Checks the new names. @throws ArchiveRefusedError if one is taken, or scans would skip the ROM under its new name */
async function requireFreeNames (
  { db, rules }: Pick<ConvertServices, 'db' | 'rules'>, rom: ConvertibleRom, { root: { dir } }: Plan,
  { fs_name: name, kind, staged, deletedFiles }: Staging
): Promise<void> {
  if (kind === 'folder' ? rules.isExcludedMulti(name) : rules.isExcludedSingle(name)) {
    throw new ArchiveRefusedError(`it would become '${name}', which scans skip; rename it, or change 'exclude' in config.yml`)
  }
  if (!await isNameFree(db, rom, name)) {
    throw new ArchiveRefusedError(`it was renamed during the conversion, or '${name}' is another ROM; rename or delete that ROM`)
  }
  const deletedPaths = new Set(deletedFiles.map((file) => file.absolute_path))
  for (const { file } of staged.filter(({ replaces }) => !replaces)) {
    const path = join(dir, file.file_path, file.file_name)
    if (deletedPaths.has(path) || await isPresent(path)) {
      throw new ArchiveRefusedError(`'${file.file_name}' already exists; rename or delete it`)
    }
  }
}

/** Returns the swap of the originals for the staged files, whose content it hashes. */
async function toSwap (
  hasher: EntryHasher, rom: ConvertibleRom, { root: { dir }, entry }: Plan, staging: Staging
): Promise<Swap> {
  const next = toEntry(entry, staging)
  const hashes = await hasher.hashEntry(next, rom.slug)
  return {
    placings: staging.staged.map(({ file, replaces }) => ({
      from: relative(dir, file.absolute_path), to: `${file.file_path}/${file.file_name}`, inode: file.inode, replaces
    })),
    originals: staging.deletedFiles.map((file) => ({
      path: `${file.file_path}/${file.file_name}`, inode: file.inode, size: file.file_size_bytes, mtime: file.mtime
    })),
    write: toWrite(rom, next, hashes)
  }
}

async function plan (
  { library, openNeighbourFiles }: ConvertServices, rom: ConvertibleRom, to: Target
): Promise<Plan | { left: string }> {
  const root = await library.get(rom.library_id)
  if (!root.is_writable) return { left: describeReadOnly(root) }
  const neighbours = openNeighbourFiles(root.dir)
  const found = await neighbours.readEntry(rom.fs_path, rom.fs_name)
  if ('left' in found) return found
  const decision = await decide(found.entry, await neighbours.readContext(found.entry, rom.fs_path, rom.slug, to))
  return 'left' in decision ? decision : { root, entry: found.entry, steps: decision.steps }
}

/**
 * Swaps the files. A scan must not see half of the change: the swap waits for a running scan, and a scan that starts
 * at this moment finishes the conversion itself before it reads the library.
 */
async function swapFiles (
  services: ConvertServices, rom: ConvertibleRom, planned: Plan, staging: Staging
): Promise<void> {
  const { db, hasher, signal } = services
  const swap = await toSwap(hasher, rom, planned, staging)
  for (;;) {
    await waitForScan(db, signal)
    await requireFreeNames(services, rom, planned, staging)
    if (!await updateSwap(db, rom.id, swap) || !await isScanning(db)) break
    if (!await updateSwap(db, rom.id, null)) break
  }
  const problem = await finishConversion(services, rom.id)
  if (problem !== null) throw new ArchiveRefusedError(problem)
}

async function apply (services: ConvertServices, rom: ConvertibleRom, planned: Plan): Promise<Conversion> {
  const { db, archives, make, signal } = services
  const { root, entry, steps } = planned
  await requireSpace(archives, join(root.dir, rom.fs_path), steps)
  const workPath = `${rom.fs_path}/${workName(rom.id)}`
  if (!await insertConversion(db, rom, workPath)) {
    throw new ArchiveRefusedError('its disk became unavailable during the conversion; mount the disk, then run the task again')
  }
  try {
    const work = await openWork(root, workPath)
    const staging = await stageFiles(entry, steps, { slug: rom.slug, fs_path: rom.fs_path, work }, make)
    signal.throwIfAborted()
    await requireFreeNames(services, rom, planned, staging)
    await swapFiles(services, rom, planned, staging)
    return {
      to: entry.kind === 'folder' && steps.length === 1 ? staging.staged[0]?.file.file_name ?? '' : staging.fs_name,
      bytes_before: bytesOf(staging.deletedFiles),
      bytes_after: bytesOf(staging.staged.filter(({ replaces }) => !replaces).map(({ file }) => file))
    }
  } catch (err) {
    // Before the swap this only removes temporary files; after the swap it finds no conversion.
    await finishConversion(services, rom.id)
    throw err
  }
}

/** Converts one ROM after the other. The library stays untouched until the swap. */
export function createConvert (services: ConvertServices) {
  return {
    /**
     * Converts a ROM. @throws ArchiveRefusedError, ChdmanError, ApiError, or the error of the disk; nothing was changed
     * then
     */
    async convert (rom: ConvertibleRom, to: Target): Promise<Conversion> {
      const planned = await plan(services, rom, to)
      return 'left' in planned ? planned : await apply(services, rom, planned)
    },

    /** Returns the result that `convert` would have. */
    async predict (rom: ConvertibleRom, to: Target): Promise<Conversion> {
      const planned = await plan(services, rom, to)
      if ('left' in planned) return planned
      let [before, after] = [0, 0]
      for (const step of planned.steps) {
        before += sizeOf(step)
        after += await estimate(step, services.archives)
      }
      return { to: planned.steps.map((step) => step.kind).join(', '), bytes_before: before, bytes_after: after }
    }
  }
}
