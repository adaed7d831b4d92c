import { randomUUID } from 'node:crypto'
import { mkdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { errorCode } from '../../core/files/fs-error.ts'
import { isPresent } from '../../core/files/safe-path.ts'
import { TRASH_FOLDER } from '../library/exclusions.ts'
import type { LibraryRoot } from '../library/roots.ts'
import { type StoredFile, resolveStoredFile } from '../roms/stored-files.ts'
import { deleteItems, insertFile, insertRoms } from './rows.ts'

/** When its content was deleted, in UTC, and something that tells it from others of that second. */
const ENTRY = /^(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)-[0-9a-f]{8}$/

/** What is said of the library's own trash where a platform lies on a disk of its own. */
const NOT_THERE = new Set(['EXDEV', 'EROFS', 'EACCES', 'EPERM'])

const TRIES_MAX = 3

const nameEntry = () => `${new Date().toISOString().slice(0, 19).replaceAll(':', '-')}-${randomUUID().slice(0, 8)}`

/** When what is in a folder of the trash was deleted, in milliseconds since 1970; null for any other folder. */
export function readEntry (name: string): number | null {
  const [, day, hours, minutes, seconds] = ENTRY.exec(name) ?? []
  const at = day === undefined ? NaN : Date.parse(`${day}T${hours}:${minutes}:${seconds}Z`)
  return Number.isNaN(at) ? null : at
}

/** A file or folder of a platform. */
export type Disposable = StoredFile & { platform_id: number }

/** What goes out of libraries together: into one folder of the trash of each, under its path in the library. */
export interface Disposal {
  /** Notes ROMs before they are taken, if they are to be kept. @returns their ids in the trash, by their own */
  noteRoms (ids: readonly number[]): Promise<ReadonlyMap<number, number>>
  /** The same of a single file of a ROM. */
  noteFile (id: number): Promise<number | null>
  /** Takes back what was noted of what was not taken. */
  forget (ids: readonly number[]): Promise<void>
  /**
   * Takes a file or folder out of the library, in one step.
   *
   * @returns false when it was gone already
   * @throws the error of the file system; PathRefusedError; ApiError CONFLICT when the library is read-only, or its
   * folder is not the one that is known · UNAVAILABLE when nothing is there because its disk is not mounted
   */
  move (file: Disposable): Promise<boolean>
  /** Deletes what was taken, if nothing of it is to be kept. */
  finish (): Promise<void>
}

/** Null when there is nothing. @throws PathRefusedError */
async function locate (root: LibraryRoot, file: StoredFile): Promise<{ from: string, path: string } | null> {
  try {
    const { folder, name } = await resolveStoredFile(root.dir, file)
    const from = join(folder, name)
    return await isPresent(from) ? { from, path: join(file.file_path, name) } : null
  } catch (err) {
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(err))) return null
    throw err
  }
}

/**
 * @param isKept whether it stays in the trash, or is deleted in the end
 * @param userId who deletes it
 */
export function openDisposal (
  { library, pg: pool }: FastifyInstance, isKept: boolean, userId: number | null
): Disposal {
  const entry = nameEntry()
  const used = new Set<string>()

  /** @returns false when the file or folder is gone by now */
  async function moveTo (folder: string, from: string, path: string): Promise<boolean> {
    const place = join(folder, TRASH_FOLDER, entry)
    const target = join(place, path)
    for (let tries = 1; ; tries++) {
      await mkdir(dirname(target), { recursive: true })
      used.add(place)
      try {
        await rename(from, target)
        return true
      } catch (err) {
        if (errorCode(err) !== 'ENOENT') throw err
        if (!await isPresent(from)) return false
        // Whoever empties the trash removes folders in which nothing lies yet.
        if (tries === TRIES_MAX) throw err
      }
    }
  }

  async function moveOut (dir: string, file: Disposable, found: { from: string, path: string }): Promise<boolean> {
    try {
      return await moveTo(dir, found.from, found.path)
    } catch (err) {
      if (!NOT_THERE.has(errorCode(err))) throw err
      return await moveTo(join(dir, file.fs_path), found.from, found.path)
    }
  }

  return {
    noteRoms: async (ids) => isKept ? await insertRoms(pool, ids, entry, userId) : new Map<number, number>(),
    noteFile: async (id) => isKept ? await insertFile(pool, id, entry, userId) : null,
    async forget (ids) { if (ids.length > 0) await deleteItems(pool, ids) },

    async move (file) {
      const root = await library.getWritable(file.library_id)
      const found = await locate(root, file)
      if (found !== null && await moveOut(root.dir, file, found)) return true
      await library.requireFolder(root, file.platform_id, file.fs_path)
      return false
    },

    async finish () {
      if (isKept) return
      for (const place of used) await rm(place, { recursive: true, force: true })
    }
  }
}
