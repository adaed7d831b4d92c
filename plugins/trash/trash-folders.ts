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

/** The folders that an entry of the trash may have: in the library, and in the platform's folder. */
const entriesOf = (dir: string, { entry, fs_path: path }: Pick<TrashedPath, 'entry' | 'fs_path'>): string[] =>
  [dir, join(dir, safeRelativePath(path))].map((folder) => join(folder, TRASH_FOLDER, entry))

/** Null when it is in neither. */
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

/** Where a file or folder lay: a file of a ROM follows it, should that have another name by now. */
function toStoredFile (item: Trashed, home: FileHome | null) {
  const folder = home === null || item.kind === 'rom'
    ? item.file_path
    : home.is_folder ? [home.fs_path, home.fs_name, item.below ?? ''].filter((part) => part !== '').join('/') : home.fs_path
  return { ...item, file_path: folder }
}

/** A folder that takes the place of an empty one harms nothing; any other is refused by the disk itself. */
async function moveBack (source: string, target: string): Promise<void> {
  // The row may be older than the folder that a ROM was given.
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

/** Something that is not in the trash may be back in its place: by hand, or by a restore that was cut short. */
async function isBack (dir: string, item: Trashed): Promise<boolean> {
  try {
    const { target } = await findPlace(dir, item, null)
    return await isPresent(target)
  } catch (err) {
    if (err instanceof PathRefusedError || errorCode(err) !== '') return false
    throw err
  }
}

/** What lies in the trashes of the libraries. */
export function createTrashFolders ({ library }: Pick<FastifyInstance, 'library'>) {
  return {
    /** Whether it is where it was put, in a library that can be read. */
    isThere: async (dir: string, item: TrashedPath): Promise<boolean> => await findEntry(dir, item) !== null,

    isBack,

    /**
     * The folder of the library that something lies in, which may be changed.
     *
     * @throws ApiError CONFLICT when it is read-only, or its disk is another one · UNAVAILABLE while it is not mounted
     */
    async openLibrary (item: Trashed): Promise<string> {
      const root = await library.getWritable(item.library_id)
      await library.requireFolder(root, item.platform_id, item.fs_path)
      return root.dir
    },

    /**
     * Moves something back to where it was, unless it is back.
     *
     * @param dir the folder of its library
     * @param home the ROM that it is or belongs to; null while another one has its name
     * @throws ApiError CONFLICT when something has its name by now, or it is not in the trash any more
     * @throws PathRefusedError
     */
    async bringBack (dir: string, item: Trashed, home: FileHome | null): Promise<void> {
      const found = await findEntry(dir, item)
      const place = `${item.file_path}/${item.file_name}`
      const { folder, target } = await findPlace(dir, item, home)
      const isTaken = await isPresent(target)
      if (found === null) {
        if (isTaken && home !== null) return
        throw conflict(`'${place}' is not in the trash any more; somebody moved or deleted it there`)
      }
      if (isTaken && !await isPublished([found.path], target)) {
        throw conflict(`'${place}' is in the library again; rename or delete that, then restore this`)
      }
      await mkdir(folder, { recursive: true })
      if (await isPublished([found.path], target)) await rm(found.path)
      else await moveBack(found.path, target)
    },

    /**
     * Takes something out of the trash for good, in one step.
     *
     * @param dir the folder of its library
     * @returns what is left to delete; null when it was not there
     */
    async takeOut (dir: string, item: Trashed): Promise<string | null> {
      const found = await findEntry(dir, item)
      if (found === null) return null
      const gone = join(found.folder, `.gone-${item.id}`)
      await rename(found.path, gone)
      return gone
    },

    /** Removes the folders that something lay in, as far as nothing else is in them. */
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
