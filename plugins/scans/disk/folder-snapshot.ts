import { isExcluded } from '../../entries/entries.ts'
import {
  type DirectoryItem, type FolderFacts, LibraryUnreadableError, folderInode, readFolderFacts, readLibraryDirectory
} from '../../library/directory.ts'
import type { ExclusionRules } from '../../library/exclusions.ts'

/** A snapshot of a platform folder. */
export interface FolderSnapshot extends FolderFacts {
  /** Empty if another folder replaced this one during the reading. */
  inode: string
  /** Its items by name, in the order of the bytes of their names. */
  items: ReadonlyMap<string, DirectoryItem>
}

/** Takes a snapshot of a folder. @throws LibraryUnreadableError */
export async function takeSnapshot (folder: string): Promise<FolderSnapshot> {
  const { inode, state } = await readFolderFacts(folder)
  const items = await readLibraryDirectory(folder)
  const isUnchanged = inode === await folderInode(folder)
  return {
    inode: isUnchanged ? inode : '',
    state,
    items: new Map(items.map((item) => [item.name, item]))
  }
}

/** True if a snapshot has an item that no rule excludes. */
export const hasEntries = ({ items }: FolderSnapshot, rules: ExclusionRules): boolean =>
  items.values().some((item) => !isExcluded(rules, item))

/**
 * Reads a folder again after its entries were read.
 *
 * @throws LibraryUnreadableError also if it is another folder now, or lost all its entries
 */
export async function checkFolder (
  folder: string, rules: ExclusionRules, before: FolderSnapshot
): Promise<FolderSnapshot> {
  const after = await takeSnapshot(folder)
  const isEmptied = !hasEntries(after, rules) && hasEntries(before, rules)
  if (after.inode !== '' && after.inode === before.inode && !isEmptied) return after
  throw new LibraryUnreadableError(folder, 'its content disappeared during the scan; nothing was marked missing',
    'Check its disk or network share, then scan again')
}

/** Reads a folder again, as {@link checkFolder} does, if it changed in the meantime. */
export async function readAgain (
  folder: string, rules: ExclusionRules, before: FolderSnapshot
): Promise<FolderSnapshot> {
  const { state } = await readFolderFacts(folder)
  return before.inode !== '' && before.state === state ? before : await checkFolder(folder, rules, before)
}
