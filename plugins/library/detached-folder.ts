import { readdir } from 'node:fs/promises'
import { folderInode, isFolder } from './directory.ts'
import type { KnownFolder } from './library-rows.ts'

/**
 * True if a folder that contained ROMs is missing because its disk is not mounted. Such a disk leaves an empty folder,
 * or none.
 *
 * @throws {LibraryUnreadableError}
 */
export async function isAway (folder: string, { fs_inode: inode, has_roms: hasRoms }: KnownFolder): Promise<boolean> {
  if (!hasRoms) return false
  if (!await isFolder(folder)) return true
  return inode !== null && await folderInode(folder) !== inode && (await readdir(folder)).length === 0
}
