import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../../core/config/config.ts'
import { conflict } from '../../core/errors.ts'
import { readLibraryDirectory } from '../library/directory.ts'
import { romsPath } from '../library/structure.ts'
import type { TaskDefinition, TaskRun } from '../tasks/definitions.ts'
import { isConverting, selectConversions } from './rows.ts'
import { TASK_NAME } from './task.ts'
import { isWorkName, removeFolder } from './work.ts'

const CRON = '0 4 * * *'
/** What is younger may be a conversion's that is not known here yet. */
const OLD_MS = 86_400_000

/** Removes what is temporary and of no conversion that is known, such as when an older database was put back. */
export function defineCleanup (app: FastifyInstance, config: Config): TaskDefinition {
  const dir = config.library_dir

  /** Folders of ROMs, relative to the library. */
  async function listFolders (): Promise<string[]> {
    const structure = await app.library.detectStructure()
    if (structure === null) return []
    const { platforms } = await app.library.listPlatformFolders(structure)
    return platforms.map((platform) => romsPath(structure, platform))
  }

  async function findLeftovers (folder: string, known: ReadonlySet<string>): Promise<string[]> {
    const items = await readLibraryDirectory(join(dir, folder))
    return items.filter(({ name, kind }) => kind === 'folder' && isWorkName(name)).map(({ name }) => `${folder}/${name}`)
      .filter((path) => !known.has(path))
  }

  async function run ({ signal, report }: TaskRun): Promise<void> {
    if (await isConverting(app.pg, TASK_NAME)) throw conflict('The library is being converted; run this again afterwards')
    const known = new Set((await selectConversions(app.pg)).map((conversion) => conversion.work_path))
    const stats = { folders_found: 0, folders_removed: 0 }
    for (const folder of await listFolders()) {
      signal.throwIfAborted()
      for (const path of await findLeftovers(folder, known)) {
        stats.folders_found++
        if ((await stat(join(dir, path))).mtimeMs > Date.now() - OLD_MS) continue
        await removeFolder(join(dir, path))
        stats.folders_removed++
      }
    }
    await report({ cleanup_stats: stats })
  }

  return {
    name: 'cleanup_conversion_cache',
    title: 'Cleanup of conversions',
    description: 'Removes copies that conversions left in the library and that no conversion knows any more, after a day',
    type: 'cleanup',
    group: 'scheduled',
    enabled: true,
    manual_run: true,
    cron_string: CRON,
    destructive: false,
    isSingle: true,
    arguments: Type.Object({}, { additionalProperties: false }),
    run
  }
}
