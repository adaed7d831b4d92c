import { join } from 'node:path'
import type { Db } from '../../../core/database/db.ts'
import {
  type DirectoryItem, type FolderFacts, LibraryUnreadableError, folderInode, readFolderFacts, readLibraryDirectory
} from '../../library/directory.ts'
import { type EntryListing, isExcluded, listEntries } from '../../entries/entries.ts'
import type { ExclusionRules } from '../../library/exclusions.ts'
import type { ManyLstats } from '../../entries/lstat-many.ts'
import type { ScannedPlatform } from '../../matching/sdk-rom.ts'
import type { PartLeases } from '../parts/part-leases.ts'
import { findInode, isFolderStored, upsertFolder } from '../platform-rows.ts'
import type { PlatformFolderRef } from '../rom-rows.ts'
import { type KnownFiles, findUnchanged, readEarlyFacts } from './unchanged-files.ts'

/** A snapshot of a platform folder. */
export interface FolderSnapshot extends FolderFacts {
  /** Empty if another folder replaced this one during the reading. */
  inode: string
  /** Its items by name, in the order of the bytes of their names. */
  items: ReadonlyMap<string, DirectoryItem>
}

interface Services {
  db: Db
  parts: Pick<PartLeases, 'write'>
  /** Returns the folder of a library; undefined if the library cannot be read. */
  findLibraryDir: (libraryId: number) => string | undefined
  rules: ExclusionRules
  lstats: Pick<ManyLstats, 'lstat' | 'readFacts' | 'ready'>
}
type PlatformLocation = Pick<ScannedPlatform, 'id' | 'library_id' | 'fs_path'>

function libraryOf ({ findLibraryDir }: Services, { library_id: id, fs_path: path }: PlatformLocation): string {
  const dir = findLibraryDir(id)
  if (dir === undefined) throw new LibraryUnreadableError(path, 'its library cannot be read', 'Mount its disk, then scan again')
  return dir
}

const folderOf = (services: Services, location: PlatformLocation) =>
  join(libraryOf(services, location), location.fs_path)

const describeEmpty = (count: number) => `it is empty, and it is not the folder that contained its ${count} ROMs, ` +
  'which looks as if a disk is not mounted; nothing was marked missing'

/** Takes a snapshot of a folder. @throws LibraryUnreadableError */
async function takeSnapshot (services: Services, location: PlatformLocation): Promise<FolderSnapshot> {
  const folder = folderOf(services, location)
  const { inode, state } = await readFolderFacts(folder)
  const items = await readLibraryDirectory(folder)
  const isUnchanged = inode === await folderInode(folder)
  return {
    inode: isUnchanged ? inode : '',
    state,
    items: new Map(items.map((item) => [item.name, item]))
  }
}

/**
 * Stores that a platform lies in a library, and the inode of its folder; null while no folder holds its ROMs. A row
 * that is up to date needs no transaction, because the lock of the lease waits for the disk.
 */
export async function storeFolder (
  { db, parts }: Pick<Services, 'db' | 'parts'>, platform: PlatformFolderRef, inode: string | null
): Promise<void> {
  if (await isFolderStored(db, platform, inode)) return
  await parts.write([platform], (tx) => upsertFolder(tx, platform, inode))
}

function listSelected (
  services: Services, location: PlatformLocation, items: readonly DirectoryItem[], signal: AbortSignal
): EntryListing {
  return listEntries({
    libraryDir: libraryOf(services, location),
    folder: location.fs_path,
    rules: { ...services.rules, isExcludedSingle: () => false, isExcludedMulti: () => false },
    items,
    signal,
    lstat: services.lstats.lstat
  })
}

const hasEntriesBy = (rules: ExclusionRules, { items }: FolderSnapshot) =>
  items.values().some((item) => !isExcluded(rules, item))

/**
 * Reads a folder again after its entries were read.
 *
 * @throws LibraryUnreadableError also if it is another folder now, or lost all its entries
 */
async function checkFolder (
  services: Services, platform: PlatformLocation, before: FolderSnapshot
): Promise<FolderSnapshot> {
  const after = await takeSnapshot(services, platform)
  const isEmptied = !hasEntriesBy(services.rules, after) && hasEntriesBy(services.rules, before)
  if (after.inode !== '' && after.inode === before.inode && !isEmptied) return after
  throw new LibraryUnreadableError(folderOf(services, platform), 'its content disappeared during the scan; nothing was marked missing',
    'Check its disk or network share, then scan again')
}

/**
 * Tells a folder whose games were deleted from one whose disk is gone. Where a disk was mounted, an empty folder with
 * another inode stays behind.
 */
export function createPlatformFolders (services: Services) {
  const { db, rules, lstats } = services
  const isEntry = (item: DirectoryItem) => !isExcluded(rules, item)
  const hasEntries = (folder: FolderSnapshot) => hasEntriesBy(rules, folder)
  const check = (platform: PlatformLocation, before: FolderSnapshot) => checkFolder(services, platform, before)

  return {
    /** Reads the folder. @throws LibraryUnreadableError */
    open: (platform: PlatformLocation): Promise<FolderSnapshot> => takeSnapshot(services, platform),

    /**
     * Checks the folder before its `count` ROMs are compared with it.
     *
     * @throws LibraryUnreadableError if it is empty and not the folder that held the ROMs
     */
    async checkMounted (platform: PlatformLocation, found: FolderSnapshot, count: number): Promise<void> {
      if (hasEntries(found) || count === 0 || found.inode === await findInode(db, platform)) return
      throw new LibraryUnreadableError(folderOf(services, platform), describeEmpty(count),
        'Mount the disk, or delete the folder if you deleted the games on purpose')
    },

    /** Selects the possible ROMs of a snapshot. @param names the only ones, even if the rules exclude them */
    select: ({ items }: FolderSnapshot, names?: Pick<ReadonlySet<string>, 'has'>): DirectoryItem[] =>
      [...items.values()].filter(names === undefined ? isEntry : ({ name }) => names.has(name)),

    /** Reads the entries of selected items. */
    list: (location: PlatformLocation, items: readonly DirectoryItem[], signal: AbortSignal): EntryListing =>
      listSelected(services, location, items, signal),

    /** Reads facts of its files until `listing` settles. */
    readFacts: (location: PlatformLocation, { items }: FolderSnapshot, listing: Promise<unknown>) =>
      readEarlyFacts(folderOf(services, location), items.values(), listing, lstats),

    /** Compares selected items with their ROMs. */
    compare: (location: PlatformLocation, items: readonly DirectoryItem[], known: KnownFiles, signal: AbortSignal) =>
      findUnchanged(folderOf(services, location), items, known, { readFacts: lstats.readFacts, signal }),

    /** True if a name in a snapshot is a possible ROM. */
    hasEntry ({ items }: FolderSnapshot, name: string): boolean {
      const item = items.get(name)
      return item !== undefined && isEntry(item)
    },

    /** Reads the folder again, as {@link checkFolder} does, if it changed in the meantime. */
    async readAgain (platform: PlatformLocation, before: FolderSnapshot): Promise<FolderSnapshot> {
      const { state } = await readFolderFacts(folderOf(services, platform))
      return before.inode !== '' && before.state === state ? before : await check(platform, before)
    },

    /** Reads the folder again, as {@link checkFolder} does. */
    check,

    /** Stores the folder as the one that holds the platform's ROMs in its library. */
    async storeFolder (location: PlatformLocation, folder: FolderSnapshot): Promise<void> {
      if (hasEntries(folder)) await storeFolder(services, location, folder.inode)
    }
  }
}
export type PlatformFolders = ReturnType<typeof createPlatformFolders>
