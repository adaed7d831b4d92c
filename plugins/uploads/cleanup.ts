import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { listWritableFolders } from '../library/locate-folder.ts'
import { defineCleanup } from '../tasks/cleanup.ts'
import type { TaskDefinition, TaskRun } from '../tasks/definitions.ts'
import { LIFETIME_HOURS, deleteExpired, selectOpenIds } from './rows.ts'
import { stagedId } from './staging.ts'

const LIFETIME_MS = LIFETIME_HOURS * 3_600_000
const CRON = '0 * * * *'

/**
 * True if a staged file without an upload is no longer needed: it has its name in the library too, or was not written
 * to for the lifetime of an upload. False if the file is gone.
 */
const isLeftover = (path: string): Promise<boolean> =>
  stat(path).then(({ mtimeMs, nlink }) => nlink > 1 || mtimeMs < Date.now() - LIFETIME_MS, () => false)

/** Defines the task that removes incomplete uploads and the leftovers of uploads whose process ended. */
export function defineUploadCleanup (app: FastifyInstance): TaskDefinition {
  /**
   * Deletes expired and leftover staged files of a folder. A staged file without an upload row belongs to a whole-file
   * request, which may have died.
   *
   * @returns the number of deleted files
   */
  async function sweep (folder: string, expired: ReadonlySet<string>, open: ReadonlySet<string>): Promise<number> {
    let count = 0
    // An unreadable folder is read in a later run.
    for (const name of await readdir(folder).catch(() => [])) {
      const id = stagedId(name)
      const path = join(folder, name)
      if (id === null || open.has(id) || (!expired.has(id) && !await isLeftover(path))) continue
      await rm(path, { force: true })
      count++
    }
    return count
  }

  async function run ({ signal, report }: TaskRun): Promise<void> {
    const expired = await deleteExpired(app.db)
    const stats = { uploads: expired.size, files: 0 }
    const open = await selectOpenIds(app.db)
    for (const { root, path } of await listWritableFolders(app.library)) {
      signal.throwIfAborted()
      stats.files += await sweep(join(root.dir, path), expired, open)
    }
    await report({ cleanup_stats: stats })
  }

  return defineCleanup({
    name: 'cleanup_uploads',
    title: 'Cleanup uploads',
    description: `Deletes uploads of ROMs that were not completed within ${LIFETIME_HOURS} hours, and the remains of broken ones`,
    cron_string: CRON,
    run
  })
}
