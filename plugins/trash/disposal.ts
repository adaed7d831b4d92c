import { randomUUID } from 'node:crypto'
import { mkdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { errorCode } from '../../core/files/fs-error.ts'
import { isPresent } from '../../core/files/safe-path.ts'
import { TRASH_FOLDER } from '../library/exclusions.ts'
import { type StoredFile, resolveStoredFile } from '../roms/downloads/stored-files.ts'

/** When its content was deleted, in UTC, and something that tells it from others of that second. */
const ENTRY = /^(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)-[0-9a-f]{8}$/

/** What is said of the library's own trash where a platform lies on a disk of its own. */
const NOT_THERE = new Set(['EXDEV', 'EROFS', 'EACCES', 'EPERM'])

const nameEntry = () => `${new Date().toISOString().slice(0, 19).replaceAll(':', '-')}-${randomUUID().slice(0, 8)}`

/** When what is in a folder of the trash was deleted, in milliseconds since 1970; null for any other folder. */
export function readEntry (name: string): number | null {
  const [, day, hours, minutes, seconds] = ENTRY.exec(name) ?? []
  const at = day === undefined ? NaN : Date.parse(`${day}T${hours}:${minutes}:${seconds}Z`)
  return Number.isNaN(at) ? null : at
}

/** What goes out of libraries together: into one folder of the trash of each, under its path in the library. */
export interface Disposal {
  /**
   * Takes a file or folder out of the library, in one step. One that is gone already is none to take.
   *
   * @throws the error of the file system; PathRefusedError; ApiError CONFLICT when the library is read-only
   */
  take (file: StoredFile): Promise<void>
  /** Deletes what was taken, if nothing of it is to be kept. */
  finish (): Promise<void>
}

/** @param isKept whether it stays in the trash, or is deleted in the end */
export function openDisposal (library: Pick<FastifyInstance['library'], 'getWritable'>, isKept: boolean): Disposal {
  const entry = nameEntry()
  const used = new Set<string>()

  async function moveTo (folder: string, from: string, path: string): Promise<void> {
    const place = join(folder, TRASH_FOLDER, entry)
    const target = join(place, path)
    await mkdir(dirname(target), { recursive: true })
    used.add(place)
    await rename(from, target)
  }

  return {
    async take (file) {
      const { dir: libraryDir } = await library.getWritable(file.library_id)
      const { folder, name } = await resolveStoredFile(libraryDir, file)
      const from = join(folder, name)
      if (!await isPresent(from)) return
      const path = join(file.file_path, name)
      try {
        await moveTo(libraryDir, from, path)
      } catch (err) {
        if (!NOT_THERE.has(errorCode(err))) throw err
        await moveTo(join(libraryDir, file.fs_path), from, path)
      }
    },

    async finish () {
      if (isKept) return
      for (const place of used) await rm(place, { recursive: true, force: true })
    }
  }
}
