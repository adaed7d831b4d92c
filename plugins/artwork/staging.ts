import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type pg from 'pg'
import { requireFreeSpace } from '../../core/files/free-space.ts'
import { errorCode } from '../../core/files/fs-error.ts'
import { selectOtherRunning } from './rows.ts'

/** Begins the names of what edits stage, which are no tasks and are over soon. */
export const EDIT_PREFIX = 'edit-'
const EDIT_MAX_MS = 60 * 60_000

const FOLDER = '.unfinished'
/** The largest file that is staged: of a form, or of what `core/http` downloads. */
export const ARTWORK_MAX_BYTES = 64 * 1024 ** 2

async function listFolder (path: string): Promise<string[]> {
  try {
    return await readdir(path)
  } catch (err) {
    if (errorCode(err) === 'ENOENT') return []
    throw err
  }
}

async function isEdited (path: string): Promise<boolean> {
  return basename(path).startsWith(EDIT_PREFIX) && (await stat(path)).mtimeMs > Date.now() - EDIT_MAX_MS
}

/**
 * Where a scan keeps artwork until it is whole: a folder of its own beside the finished, so that what a killed process
 * left can be told from what another scan is writing just now.
 */
export function createStaging (pool: pg.Pool, resourcesDir: string, taskId: string) {
  const all = join(resourcesDir, FOLDER)
  const own = join(all, taskId)
  let count = 0

  return {
    /** Deletes what scans left behind that are over, and what an earlier worker of this one did. */
    async clear (): Promise<void> {
      const names = await listFolder(all)
      if (names.length === 0) return
      const running = await selectOtherRunning(pool, taskId)
      for (const name of names.filter((name) => !running.has(name))) {
        if (!await isEdited(join(all, name))) await rm(join(all, name), { recursive: true, force: true })
      }
    },

    /** A path nothing has yet, in a folder that is there and has room for a file. @throws ApiError NO_FREE_SPACE */
    async next (): Promise<string> {
      await requireFreeSpace(own, ARTWORK_MAX_BYTES)
      await mkdir(own, { recursive: true })
      return join(own, `${++count}.part`)
    },

    remove: (): Promise<void> => rm(own, { recursive: true, force: true })
  }
}
export type Staging = ReturnType<typeof createStaging>
