import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { conflict } from '../../core/errors.ts'
import { readLibraryDirectory } from '../library/directory.ts'
import { type RomFolder, listWritableFolders } from '../library/locate-folder.ts'
import { defineCleanup } from '../tasks/cleanup.ts'
import type { TaskDefinition, TaskRun } from '../tasks/definitions.ts'
import { isConverting, selectConversions } from './rows.ts'
import { TASK_NAME } from './task.ts'
import { isWorkName, removeFolder } from './work-folder.ts'

const CRON = '0 4 * * *'
/** Younger folders are skipped, because they may belong to a conversion that is not known here yet. */
const OLD_MS = 86_400_000

const keyOf = (libraryId: number, work: string) => `${libraryId} ${work}`

/**
 * Defines the task that removes temporary folders of unknown conversions, for example after an older database was
 * restored.
 */
export function defineConversionCleanup (app: FastifyInstance): TaskDefinition {
  /** Finds work folders of no known conversion. @param knownKeys the known work folders, by {@link keyOf} */
  async function findLeftovers ({ root, path }: RomFolder, knownKeys: ReadonlySet<string>): Promise<string[]> {
    const items = await readLibraryDirectory(join(root.dir, path))
    return items.filter(({ name, kind }) => kind === 'folder' && isWorkName(name)).map(({ name }) => `${path}/${name}`)
      .filter((work) => !knownKeys.has(keyOf(root.id, work)))
  }

  async function run ({ signal, report }: TaskRun): Promise<void> {
    if (await isConverting(app.db, TASK_NAME)) throw conflict('A conversion of the library is running; run this task again after it')
    const running = await selectConversions(app.db)
    const knownKeys = new Set(running.map((conversion) => keyOf(conversion.library_id, conversion.work_path)))
    const stats = { folders_found: 0, folders_removed: 0 }
    for (const folder of await listWritableFolders(app.library)) {
      signal.throwIfAborted()
      for (const path of await findLeftovers(folder, knownKeys)) {
        stats.folders_found++
        if ((await stat(join(folder.root.dir, path))).mtimeMs > Date.now() - OLD_MS) continue
        await removeFolder(join(folder.root.dir, path))
        stats.folders_removed++
      }
    }
    await report({ cleanup_stats: stats })
  }

  return defineCleanup({
    name: 'cleanup_conversion_cache',
    title: 'Cleanup conversions',
    description: 'Deletes files that interrupted conversions left in the library, after a day',
    cron_string: CRON,
    run
  })
}
