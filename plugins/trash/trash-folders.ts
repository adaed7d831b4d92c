import { lstat, mkdir, rename, rm, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { conflict } from '../../core/errors.ts'
import { errorCode } from '../../core/files/fs-error.ts'
import { PathRefusedError, isPresent, safeRelativePath } from '../../core/files/safe-path.ts'
import { TRASH_FOLDER } from '../library/exclusions.ts'
import { resolveStoredFile } from '../roms/stored-files.ts'
import { isPublished, publishFile } from '../uploads/publish-file.ts'
import type { FileHome, Trashed } from './rows.ts'

type TrashedPath = Pick<Trashed, 'entry' | 'fs_path' | 'file_path' | 'file_name'>

/** Returns the possible folders of a trash entry: in the library, and in the platform folder. */
const entriesOf = (dir: string, { entry, fs_path: path }: Pick<TrashedPath, 'entry' | 'fs_path'>): string[] =>
  [dir, join(dir, safeRelativePath(path))].map((folder) => join(folder, TRASH_FOLDER, entry))

/** Finds an item in its possible folders; null if it is in neither. */
async function findEntry (dir: string, item: TrashedPath): Promise<{ folder: string, path: string } | null> {
  for (const folder of entriesOf(dir, item)) {
    const path = join(folder, safeRelativePath(item.file_path), item.file_name)
    const isThere = await isPresent(path).catch((err: unknown) => {
      if (errorCode(err) === 'ENOTDIR') return false
      throw err
    })
    if (isThere) return { folder, path }
  }
  return null
}

/** Returns the target of a restore: a file of a ROM follows the ROM, which may have another name by now. */
function toStoredFile (item: Trashed, home: FileHome | null) {
  const folder = home === null || item.kind === 'rom'
    ? item.file_path
    : home.is_folder ? [home.fs_path, home.fs_name, item.below ?? ''].filter((part) => part !== '').join('/') : home.fs_path
  return { ...item, file_path: folder }
}

/** Moves a file or folder back. A folder may replace an empty one; the system refuses any other. */
async function moveBack (source: string, target: string): Promise<void> {
  // Check the disk, because the row may be older than the folder that a ROM was given.
  if ((await lstat(source)).isDirectory()) return await rename(source, target)
  await publishFile(source, target)
  await rm(source, { force: true })
}

async function findPlace (
  dir: string, item: Trashed, home: FileHome | null
): Promise<{ folder: string, target: string }> {
  const { folder, name } = await resolveStoredFile(dir, toStoredFile(item, home))
  return { folder, target: join(folder, name) }
}

/** True if an item is back at its path, for example by hand or by an interrupted restore. */
async function isBack (dir: string, item: Trashed): Promise<boolean> {
  try {
    const { target } = await findPlace(dir, item, null)
    return await isPresent(target)
  } catch (err) {
    if (err instanceof PathRefusedError || errorCode(err) !== '') return false
    throw err
  }
}

/** Creates access to the files in the trash folders of the libraries. */
export function createTrashFolders ({ library }: Pick<FastifyInstance, 'library'>) {
  return {
    /** True if the item is in the trash of a readable library. */
    isThere: async (dir: string, item: TrashedPath): Promise<boolean> => await findEntry(dir, item) !== null,

    isBack,

    /**
     * Returns the folder of the item's library, which must be writable.
     *
     * @throws ApiError CONFLICT if it is read-only, or its disk is another one · UNAVAILABLE while it is not mounted
     */
    async openLibrary (item: Trashed): Promise<string> {
      const root = await library.getWritable(item.library_id)
      await library.requireFolder(root, item.platform_id, item.fs_path)
      return root.dir
    },

    /**
     * Moves an item back to its former path, unless it is already back.
     *
     * @param dir the folder of its library
     * @param home the ROM that the item is or belongs to; null if another ROM has its name
     * @throws ApiError CONFLICT if its name is taken by now, or it is not in the trash any more
     * @throws PathRefusedError
     */
    async bringBack (dir: string, item: Trashed, home: FileHome | null): Promise<void> {
      const found = await findEntry(dir, item)
      const place = `${item.file_path}/${item.file_name}`
      const { folder, target } = await findPlace(dir, item, home)
      const isTaken = await isPresent(target)
      if (found === null) {
        if (isTaken && home !== null) return
        throw conflict(`'${place}' is not in the trash any more, because somebody moved or deleted it`)
      }
      if (isTaken && !await isPublished([found.path], target)) {
        throw conflict(`'${place}' exists in the library again; rename or delete that file, then restore this item`)
      }
      await mkdir(folder, { recursive: true })
      if (await isPublished([found.path], target)) await rm(found.path)
      else await moveBack(found.path, target)
    },

    /**
     * Removes an item from the trash permanently, in one step.
     *
     * @param dir the folder of its library
     * @returns the path that is left to delete; null if the item was not there
     */
    async takeOut (dir: string, item: Trashed): Promise<string | null> {
      const found = await findEntry(dir, item)
      if (found === null) return null
      const gone = join(found.folder, `.gone-${item.id}`)
      await rename(found.path, gone)
      return gone
    },

    /** Removes the folders of an item that are empty now. */
    async removeEmptied (dir: string, item: TrashedPath): Promise<void> {
      const parts = safeRelativePath(item.file_path).split('/')
      for (const folder of entriesOf(dir, item)) {
        for (let depth = parts.length; depth >= 0; depth--) {
          await rmdir(join(folder, ...parts.slice(0, depth))).catch(() => {})
        }
      }
    }
  }
}
