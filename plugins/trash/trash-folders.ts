import { lstat, rename, rm, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { conflict } from '../../core/errors.ts'
import { createFolder } from '../../core/files/create-folder.ts'
import { errorCode } from '../../core/files/fs-error.ts'
import { isPublished, publishFile } from '../../core/files/publish-file.ts'
import { PathRefusedError, isPresent, safeRelativePath } from '../../core/files/safe-path.ts'
import { TRASH_FOLDER } from '../library/exclusions.ts'
import { resolveStoredFile } from '../roms/stored-files.ts'
import type { FileTarget, TrashedItem } from './rows.ts'

type TrashedPath = Pick<TrashedItem, 'entry' | 'fs_path' | 'file_path' | 'file_name'>

/** Returns the possible folders of a trash entry: in the library, and in the platform folder. */
const entriesOf = (dir: string, { entry, fs_path: path }: Pick<TrashedPath, 'entry' | 'fs_path'>): string[] =>
  [dir, join(dir, safeRelativePath(path))].map((folder) => join(folder, TRASH_FOLDER, entry))

/** Finds an item in its possible folders; null if it is in neither. */
async function findEntry (dir: string, item: TrashedPath): Promise<{ folder: string, path: string } | null> {
  for (const folder of entriesOf(dir, item)) {
    const path = join(folder, safeRelativePath(item.file_path), item.file_name)
    const isFound = await isPresent(path).catch((err: unknown) => {
      if (errorCode(err) === 'ENOTDIR') return false
      throw err
    })
    if (isFound) return { folder, path }
  }
  return null
}

/** Returns the target of a restore: a file of a ROM follows the ROM, which may have another name by now. */
function toStoredFile (item: TrashedItem, fileTarget: FileTarget | null) {
  const folder = fileTarget === null || item.kind === 'rom'
    ? item.file_path
    : fileTarget.is_folder ? [fileTarget.fs_path, fileTarget.fs_name, item.below ?? ''].filter((part) => part !== '').join('/') : fileTarget.fs_path
  return { ...item, file_path: folder }
}

/** Moves a file or folder back. A folder may replace an empty one; the system refuses any other. */
async function moveBack (source: string, target: string): Promise<void> {
  // Check the disk, because the row may be older than the folder that a ROM was given.
  if ((await lstat(source)).isDirectory()) return await rename(source, target)
  await publishFile(source, target)
  await rm(source, { force: true })
}

async function findRestoreTarget (
  dir: string, item: TrashedItem, fileTarget: FileTarget | null
): Promise<{ folder: string, target: string }> {
  const { folder, name } = await resolveStoredFile(dir, toStoredFile(item, fileTarget))
  return { folder, target: join(folder, name) }
}

/** True if an item is back at its path, for example by hand or by an interrupted restore. */
export async function isBack (dir: string, item: TrashedItem): Promise<boolean> {
  try {
    const { target } = await findRestoreTarget(dir, item, null)
    return await isPresent(target)
  } catch (err) {
    if (err instanceof PathRefusedError || errorCode(err) !== '') return false
    throw err
  }
}

/** True if the item is in the trash of a readable library. */
export const isInTrash = async (dir: string, item: TrashedPath): Promise<boolean> => await findEntry(dir, item) !== null

/**
 * Returns the folder of the item's library, which must be writable.
 *
 * @throws ApiError CONFLICT if it is read-only, or its disk is another one · UNAVAILABLE while it is not mounted
 */
export async function openLibrary (library: FastifyInstance['library'], item: TrashedItem): Promise<string> {
  const root = await library.getWritable(item.library_id)
  await library.requireFolder(root, item.platform_id, item.fs_path)
  return root.dir
}

/**
 * Moves an item back to its former path, unless it is already back.
 *
 * @param dir the folder of its library
 * @param fileTarget the ROM that the item is or belongs to; null if another ROM has its name
 * @throws ApiError CONFLICT if its name is taken by now, or it is not in the trash any more
 * @throws PathRefusedError
 */
export async function restoreFile (dir: string, item: TrashedItem, fileTarget: FileTarget | null): Promise<void> {
  const found = await findEntry(dir, item)
  const itemPath = `${item.file_path}/${item.file_name}`
  const { folder, target } = await findRestoreTarget(dir, item, fileTarget)
  const isTargetPresent = await isPresent(target)
  if (found === null) {
    if (isTargetPresent && fileTarget !== null) return
    throw conflict(`'${itemPath}' is not in the trash any more, because somebody moved or deleted it`)
  }
  if (isTargetPresent && !await isPublished([found.path], target)) {
    throw conflict(`'${itemPath}' exists in the library again; rename or delete that file, then restore this item`)
  }
  await createFolder(folder)
  if (await isPublished([found.path], target)) await rm(found.path)
  else await moveBack(found.path, target)
}

/**
 * Removes an item from the trash permanently, in one step.
 *
 * @param dir the folder of its library
 * @returns the path that is left to delete; null if the item was not there
 */
export async function removeItem (dir: string, item: TrashedItem): Promise<string | null> {
  const found = await findEntry(dir, item)
  if (found === null) return null
  const deletedPath = join(found.folder, `.gone-${item.id}`)
  await rename(found.path, deletedPath)
  return deletedPath
}

/** Removes the folders of an item that are empty now. */
export async function removeEmptied (dir: string, item: TrashedPath): Promise<void> {
  const parts = safeRelativePath(item.file_path).split('/')
  for (const folder of entriesOf(dir, item)) {
    for (let depth = parts.length; depth >= 0; depth--) {
      await rmdir(join(folder, ...parts.slice(0, depth))).catch(() => {})
    }
  }
}
