import { join } from 'node:path'
import type pg from 'pg'
import { type DirectoryItem, LibraryUnreadableError, folderInode, readLibraryDirectory } from '../../library/directory.ts'
import { type EntryListing, isLeftOut, listEntries } from '../../library/entries.ts'
import type { ExclusionRules } from '../../library/exclusions.ts'
import type { ScannedPlatform } from '../identify/sdk-rom.ts'
import { findInode, updateInode } from './rows.ts'

/** A platform's folder at one moment. */
export interface FolderLook {
  /** Which folder it is; empty when another took its place while it was read. */
  inode: string
  items: readonly DirectoryItem[]
  names: ReadonlySet<string>
  /** The names that may be ROMs: those that no rule leaves out. */
  entries: ReadonlySet<string>
}

interface Services { pool: pg.Pool, libraryDir: string, rules: ExclusionRules }
type Place = Pick<ScannedPlatform, 'id' | 'fs_path'>

/**
 * Tells a folder whose games were deleted from one whose disk is gone: where a disk was mounted, an empty folder with
 * another inode stays behind.
 */
export function createPlatformFolders ({ pool, libraryDir, rules }: Services) {
  /** @throws LibraryUnreadableError */
  async function look ({ fs_path: path }: Place): Promise<FolderLook> {
    const folder = join(libraryDir, path)
    const before = await folderInode(folder)
    const items = await readLibraryDirectory(folder)
    const isSame = before === await folderInode(folder)
    return {
      inode: isSame ? before : '',
      items,
      names: new Set(items.map((item) => item.name)),
      entries: new Set(items.filter((item) => !isLeftOut(rules, item)).map((item) => item.name))
    }
  }

  return {
    /**
     * A look at the folder before its `count` ROMs are compared with it.
     *
     * @throws LibraryUnreadableError also when it is empty and not the folder that held them
     */
    async open (platform: Place, count: number): Promise<FolderLook> {
      const found = await look(platform)
      if (found.entries.size > 0 || count === 0 || found.inode === await findInode(pool, platform.id)) return found
      throw new LibraryUnreadableError(join(libraryDir, platform.fs_path),
        `it is empty, and it is not the folder that held its ${count} ROMs, as if a disk was not mounted; nothing was marked missing`,
        'Mount the disk, or delete the folder when the games were removed on purpose')
    },

    /**
     * Reads what lay in the folder at that look.
     *
     * @param names those of the only entries that are read, whatever the rules say
     */
    list (
      { fs_path: folder }: Place, { items }: FolderLook, signal: AbortSignal, names?: Pick<ReadonlySet<string>, 'has'>
    ): EntryListing {
      const isOther = (name: string) => names?.has(name) === false
      const chosen = names === undefined ? rules : { ...rules, isExcludedSingle: isOther, isExcludedMulti: isOther }
      return listEntries({ libraryDir, folder, rules: chosen, items, signal })
    },

    /**
     * A second look, once it was read.
     *
     * @throws LibraryUnreadableError also when it is another folder, or nothing is left in it
     */
    async check (platform: Place, before: FolderLook): Promise<FolderLook> {
      const after = await look(platform)
      const isEmptied = after.entries.size === 0 && before.entries.size > 0
      if (after.inode !== '' && after.inode === before.inode && !isEmptied) return after
      throw new LibraryUnreadableError(join(libraryDir, platform.fs_path),
        'its content vanished while it was scanned; nothing was marked missing',
        'Check the disk or share it lies on, then scan again')
    },

    /** Notes the folder as the one that holds the platform's ROMs. */
    async remember ({ id }: Place, { inode, entries }: FolderLook): Promise<void> {
      if (entries.size > 0) await updateInode(pool, id, inode)
    }
  }
}
export type PlatformFolders = ReturnType<typeof createPlatformFolders>
