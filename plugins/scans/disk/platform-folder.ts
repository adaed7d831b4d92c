import { join } from 'node:path'
import type { Db } from '../../../core/database/db.ts'
import { type DirectoryItem, LibraryUnreadableError } from '../../library/directory.ts'
import { type EntryListing, isExcluded, listEntries } from '../../entries/entries.ts'
import type { ExclusionRules } from '../../library/exclusions.ts'
import type { ManyLstats } from '../../entries/lstat-many.ts'
import type { ScannedPlatform } from '../../matching/sdk-rom.ts'
import type { PartLeases } from '../parts/part-leases.ts'
import { type FolderSnapshot, checkFolder, hasEntries, readAgain, takeSnapshot } from './folder-snapshot.ts'
import { findInode, isFolderStored, upsertFolder } from '../platform-rows.ts'
import type { PlatformFolderRef } from '../rom-rows.ts'
import { type KnownFiles, findUnchanged, readEarlyFacts } from './unchanged-files.ts'

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

/**
 * Tells a folder whose games were deleted from one whose disk is gone. Where a disk was mounted, an empty folder with
 * another inode stays behind.
 */
export function createPlatformFolders (services: Services) {
  const { db, rules, lstats } = services
  const isEntry = (item: DirectoryItem) => !isExcluded(rules, item)

  return {
    /** Reads the folder. @throws LibraryUnreadableError */
    open: (platform: PlatformLocation): Promise<FolderSnapshot> => takeSnapshot(folderOf(services, platform)),

    /**
     * Checks the folder before its `count` ROMs are compared with it.
     *
     * @throws LibraryUnreadableError if it is empty and not the folder that held the ROMs
     */
    async checkMounted (platform: PlatformLocation, found: FolderSnapshot, count: number): Promise<void> {
      if (hasEntries(found, rules) || count === 0 || found.inode === await findInode(db, platform)) return
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
    readAgain: (platform: PlatformLocation, before: FolderSnapshot): Promise<FolderSnapshot> =>
      readAgain(folderOf(services, platform), rules, before),

    /** Reads the folder again, as {@link checkFolder} does. */
    check: (platform: PlatformLocation, before: FolderSnapshot): Promise<FolderSnapshot> =>
      checkFolder(folderOf(services, platform), rules, before),

    /** Stores the folder as the one that holds the platform's ROMs in its library. */
    async storeFolder (location: PlatformLocation, folder: FolderSnapshot): Promise<void> {
      if (hasEntries(folder, rules)) await storeFolder(services, location, folder.inode)
    }
  }
}
export type PlatformFolders = ReturnType<typeof createPlatformFolders>
