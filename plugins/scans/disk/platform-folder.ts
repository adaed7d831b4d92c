import { join } from 'node:path'
import type { Db } from '../../../core/database/db.ts'
import { type DirectoryItem, LibraryUnreadableError, folderInode, readLibraryDirectory } from '../../library/directory.ts'
import { type EntryListing, isExcluded, listEntries } from '../../entries/entries.ts'
import type { ExclusionRules } from '../../library/exclusions.ts'
import type { Lstat } from '../../entries/lstat.ts'
import type { ScannedPlatform } from '../../matching/sdk-rom.ts'
import type { PartLeases } from '../parts/part-leases.ts'
import { findInode, upsertFolder } from '../platform-rows.ts'

/** A snapshot of a platform folder. */
export interface FolderSnapshot {
  /** The inode of the folder; empty if another folder replaced it during the reading. */
  inode: string
  items: readonly DirectoryItem[]
  names: ReadonlySet<string>
  /** The names of possible ROMs: those that no rule excludes. */
  entries: ReadonlySet<string>
}

interface Services {
  db: Db
  parts: Pick<PartLeases, 'write'>
  /** Returns the folder of a library; undefined if the library cannot be read. */
  findLibraryDir: (libraryId: number) => string | undefined
  rules: ExclusionRules
  lstat: Lstat
}
type PlatformLocation = Pick<ScannedPlatform, 'id' | 'library_id' | 'fs_path'>

function libraryOf ({ findLibraryDir }: Services, { library_id: id, fs_path: path }: PlatformLocation): string {
  const dir = findLibraryDir(id)
  if (dir === undefined) throw new LibraryUnreadableError(path, 'its library cannot be read', 'Mount its disk, then scan again')
  return dir
}

/** Takes a snapshot of a folder. @throws LibraryUnreadableError */
async function takeSnapshot (services: Services, location: PlatformLocation): Promise<FolderSnapshot> {
  const folder = join(libraryOf(services, location), location.fs_path)
  const before = await folderInode(folder)
  const items = await readLibraryDirectory(folder)
  const isUnchanged = before === await folderInode(folder)
  return {
    inode: isUnchanged ? before : '',
    items,
    names: new Set(items.map((item) => item.name)),
    entries: new Set(items.filter((item) => !isExcluded(services.rules, item)).map((item) => item.name))
  }
}

/**
 * Tells a folder whose games were deleted from one whose disk is gone. Where a disk was mounted, an empty folder with
 * another inode stays behind.
 */
export function createPlatformFolders (services: Services) {
  const { db, parts, rules, lstat } = services
  return {
    /**
     * Reads the folder before its `count` ROMs are compared with it.
     *
     * @throws LibraryUnreadableError also if it is empty and not the folder that held the ROMs
     */
    async open (platform: PlatformLocation, count: number): Promise<FolderSnapshot> {
      const found = await takeSnapshot(services, platform)
      if (found.entries.size > 0 || count === 0 || found.inode === await findInode(db, platform)) return found
      throw new LibraryUnreadableError(join(libraryOf(services, platform), platform.fs_path),
        `it is empty, and it is not the folder that contained its ${count} ROMs, which looks as if a disk is not mounted; nothing was marked missing`,
        'Mount the disk, or delete the folder if you deleted the games on purpose')
    },

    /**
     * Reads the entries of a snapshot.
     *
     * @param names the only names that are read, even if the rules exclude them
     */
    list (
      location: PlatformLocation, { items, entries }: FolderSnapshot, signal: AbortSignal,
      names: Pick<ReadonlySet<string>, 'has'> = entries
    ): EntryListing {
      return listEntries({
        libraryDir: libraryOf(services, location),
        folder: location.fs_path,
        rules: { ...rules, isExcludedSingle: () => false, isExcludedMulti: () => false },
        items: items.filter((item) => names.has(item.name)),
        signal,
        lstat
      })
    },

    /**
     * Reads the folder again after its entries were read.
     *
     * @throws LibraryUnreadableError also if it is another folder now, or lost all its entries
     */
    async check (platform: PlatformLocation, before: FolderSnapshot): Promise<FolderSnapshot> {
      const after = await takeSnapshot(services, platform)
      const isEmptied = after.entries.size === 0 && before.entries.size > 0
      if (after.inode !== '' && after.inode === before.inode && !isEmptied) return after
      throw new LibraryUnreadableError(join(libraryOf(services, platform), platform.fs_path),
        'its content disappeared during the scan; nothing was marked missing',
        'Check its disk or network share, then scan again')
    },

    /** Stores the folder as the one that holds the platform's ROMs in its library. */
    async storeFolder (location: PlatformLocation, { inode, entries }: FolderSnapshot): Promise<void> {
      if (entries.size > 0) await parts.write([location], (db) => upsertFolder(db, location, inode))
    }
  }
}
export type PlatformFolders = ReturnType<typeof createPlatformFolders>
