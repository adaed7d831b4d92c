import { readdir, rm, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Db } from '../../core/database/db.ts'
import { createFolder } from '../../core/files/create-folder.ts'
import { requireFreeSpace } from '../../core/files/free-space.ts'
import { ifPresent } from '../../core/files/fs-error.ts'
import { UNFINISHED } from '../resources/resource-key.ts'
import { selectOtherRunning } from './rows.ts'

/** Prefix of the staging folders of edits, which are short and have no task. */
export const EDIT_PREFIX = 'edit-'
const EDIT_MAX_MS = 60 * 60_000

/** Separates the task from the worker in the name of a helper's folder. */
const HELPER_MARK = '~'
/** Maximum size of a staged file, from a form or a download of `core/http`. */
export const ARTWORK_MAX_BYTES = 64 * 1024 ** 2

const listFolder = async (path: string): Promise<string[]> => await ifPresent(readdir(path)) ?? []

async function isEdited (path: string): Promise<boolean> {
  return basename(path).startsWith(EDIT_PREFIX) && (await stat(path)).mtimeMs > Date.now() - EDIT_MAX_MS
}

/**
 * Creates the staging folder of a scan in the resources folder of this machine. Each scan has its own folder, so files
 * of a killed process are distinguished from files that another scan is writing. So has each worker that helps with a
 * scan.
 *
 * @param helper names a worker that helps; null for the worker of the task
 */
export function createStaging (db: Db, resourcesDir: string, taskId: string, helper: string | null = null) {
  const all = join(resourcesDir, UNFINISHED)
  const taskFolder = join(all, helper === null ? taskId : `${taskId}${HELPER_MARK}${helper}`)
  let count = 0

  /** True if no live scan writes to a folder. Helpers of this scan may be alive. */
  function isLeftOver (name: string, running: ReadonlySet<string>): boolean {
    const [task = name] = name.split(HELPER_MARK)
    return task === taskId ? name === taskId : !running.has(task)
  }

  return {
    /** The folder, which `next` creates. */
    folder: taskFolder,

    /** Deletes files of finished scans, and of an earlier worker of this scan. */
    async clear (): Promise<void> {
      const names = await listFolder(all)
      if (names.length === 0) return
      const running = await selectOtherRunning(db, taskId)
      for (const name of names.filter((one) => isLeftOver(one, running))) {
        if (!await isEdited(join(all, name))) await rm(join(all, name), { recursive: true, force: true })
      }
    },

    /**
     * Returns an unused path in an existing folder with enough free space for a file.
     *
     * @throws ApiError NO_FREE_SPACE
     */
    async next (): Promise<string> {
      await requireFreeSpace(taskFolder, ARTWORK_MAX_BYTES)
      await createFolder(taskFolder)
      return join(taskFolder, `${++count}.part`)
    },

    remove: (): Promise<void> => rm(taskFolder, { recursive: true, force: true })
  }
}
export type Staging = ReturnType<typeof createStaging>
