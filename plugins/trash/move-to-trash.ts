import { randomUUID } from 'node:crypto'
import { rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { createFolder } from '../../core/files/create-folder.ts'
import { errorCode, isNotFoundError } from '../../core/files/fs-error.ts'
import { isPresent } from '../../core/files/safe-path.ts'
import { TRASH_FOLDER } from '../library/exclusions.ts'
import type { LibraryRoot } from '../library/roots.ts'
import { type StoredFile, resolveStoredFile } from '../roms/stored-files.ts'
import { deleteItems, insertFile, insertRoms } from './rows.ts'

/** The name of a trash folder: the time of the deletion in UTC, and a part that is unique within that second. */
const ENTRY = /^(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)-[0-9a-f]{8}$/

/** Errors of the library's own trash if a platform is on its own disk. */
const NOT_THERE = new Set(['EXDEV', 'EROFS', 'EACCES', 'EPERM'])

const ATTEMPTS_MAX = 3

/** Returns the key under which all processes see that a deletion or restore of items of a trash folder runs. */
export const workKeyOf = (entry: string): string => `trash ${entry}`

const nameEntry = () => `${new Date().toISOString().slice(0, 19).replaceAll(':', '-')}-${randomUUID().slice(0, 8)}`

/** Returns when the content of a trash folder was deleted, in milliseconds since 1970; null for any other folder. */
export function readEntry (name: string): number | null {
  const [, day, hours, minutes, seconds] = ENTRY.exec(name) ?? []
  const at = day === undefined ? NaN : Date.parse(`${day}T${hours}:${minutes}:${seconds}Z`)
  return Number.isNaN(at) ? null : at
}

/** A file or folder of a platform. */
export type Disposable = StoredFile & { platform_id: number }

/**
 * Files that leave libraries together: into one folder in the trash of each library, under their paths in the library.
 */
export interface Disposal {
  /** Runs the whole deletion. An item of a deletion that does not run is recovered, see `plugins/deletion`. */
  run<T> (work: () => Promise<T>): Promise<T>
  /**
   * Stores ROMs before they are moved, until `finish` if the trash does not keep them.
   *
   * @returns the ids of the items that the trash keeps, by ROM id
   */
  storeRoms (ids: readonly number[]): Promise<ReadonlyMap<number, number>>
  /**
   * Stores a single file of a ROM before it is moved. @returns its id in the trash; null if the trash does not keep it
   */
  storeFile (id: number): Promise<number | null>
  /** Deletes the rows of items that were not moved. */
  deleteRows (ids: readonly number[]): Promise<void>
  /**
   * Moves a file or folder out of the library, in one step.
   *
   * @returns false if it was already gone
   * @throws the error of the file system; PathRefusedError; ApiError CONFLICT if the library is read-only, or its
   * folder is not the known one · UNAVAILABLE if the file is missing because its disk is not mounted
   */
  move (file: Disposable): Promise<boolean>
  /** Deletes the moved files and their items, unless the trash keeps them. */
  finish (): Promise<void>
}

/** Locates a file; null if it does not exist. @throws PathRefusedError */
async function locate (root: LibraryRoot, file: StoredFile): Promise<{ from: string, path: string } | null> {
  try {
    const { folder, name } = await resolveStoredFile(root.dir, file)
    const from = join(folder, name)
    return await isPresent(from) ? { from, path: join(file.file_path, name) } : null
  } catch (err) {
    if (isNotFoundError(err)) return null
    throw err
  }
}

/** Creates the moves of files into one folder of the trash. */
function createMoves (entry: string) {
  const used = new Set<string>()

  /** Moves a file to the trash of a folder. @returns false if the file is gone by now */
  async function moveTo (folder: string, from: string, path: string): Promise<boolean> {
    const trashFolder = join(folder, TRASH_FOLDER, entry)
    const target = join(trashFolder, path)
    for (let attempts = 1; ; attempts++) {
      await createFolder(dirname(target))
      used.add(trashFolder)
      try {
        await rename(from, target)
        return true
      } catch (err) {
        if (errorCode(err) !== 'ENOENT') throw err
        if (!await isPresent(from)) return false
        // A concurrent emptying of the trash may have removed the folder, which is still empty.
        if (attempts === ATTEMPTS_MAX) throw err
      }
    }
  }

  async function moveFile (dir: string, file: Disposable, found: { from: string, path: string }): Promise<boolean> {
    try {
      return await moveTo(dir, found.from, found.path)
    } catch (err) {
      if (!NOT_THERE.has(errorCode(err))) throw err
      return await moveTo(join(dir, file.fs_path), found.from, found.path)
    }
  }

  return { used, moveFile }
}

/**
 * Opens a disposal.
 *
 * @param keepsFiles true if files stay in the trash; otherwise they are deleted in the end
 * @param userId the user who deletes
 */
export function openDisposal (
  { library, db, workers }: FastifyInstance, keepsFiles: boolean, userId: number | null
): Disposal {
  const entry = nameEntry()
  const { used, moveFile } = createMoves(entry)
  /** The ids of items that last until the files are deleted. */
  const temporary: number[] = []

  async function storeRoms (ids: readonly number[]): Promise<Map<number, number>> {
    const items = await insertRoms(db, ids, entry, userId)
    if (keepsFiles) return items
    temporary.push(...items.values())
    return new Map()
  }

  return {
    run: (work) => workers.runLocked(workKeyOf(entry), work),
    storeRoms,
    storeFile: async (id) => keepsFiles ? await insertFile(db, id, entry, userId) : null,
    async deleteRows (ids) { if (ids.length > 0) await deleteItems(db, ids) },

    async move (file) {
      const root = await library.getWritable(file.library_id)
      const found = await locate(root, file)
      if (found !== null && await moveFile(root.dir, file, found)) return true
      await library.requireFolder(root, file.platform_id, file.fs_path)
      return false
    },

    async finish () {
      if (keepsFiles) return
      // Delete the items first, because nobody may restore a file that is being deleted.
      if (temporary.length > 0) await deleteItems(db, temporary)
      for (const trashFolder of used) await rm(trashFolder, { recursive: true, force: true })
    }
  }
}
