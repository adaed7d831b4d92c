import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Static, Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../../core/config/config.ts'
import { trashConfig } from './config.ts'
import { isFolder } from '../library/directory.ts'
import { TRASH_FOLDER } from '../library/exclusions.ts'
import { listWritableFolders } from '../library/locate-folder.ts'
import type { LibraryRoot } from '../library/roots.ts'
import { defineCleanup } from '../tasks/cleanup.ts'
import { DELETES_ROMS, type TaskDefinition, type TaskRun } from '../tasks/definitions.ts'
import { readEntry } from './move-to-trash.ts'
import { isInTrash } from './trash-folders.ts'
import { type AgedItem, selectEntry, selectOld } from './rows.ts'

const CRON = '50 4 * * *'
const DAY_MS = 86_400_000
const PAGE = 500

const ArgumentsSchema = Type.Object({
  everything: Type.Optional(Type.Boolean({ description: 'Deletes all items, including new ones' }))
}, { additionalProperties: false })

type Library = FastifyInstance['library']

/** Lists the trash folders of the libraries, and of platforms on their own disks. */
async function listTrashes (library: Library): Promise<{ library_id: number, trash: string }[]> {
  const roots = (await library.list()).filter((root) => root.is_writable)
  const folders = await listWritableFolders(library)
  return [...roots.map((root) => ({ root, path: '' })), ...folders]
    .map(({ root, path }) => ({ library_id: root.id, trash: join(root.dir, path, TRASH_FOLDER) }))
}

/**
 * True if somebody moved or deleted the item by hand. On a disk that is away, an item waits until its time is over.
 */
async function isGone (library: Library, root: LibraryRoot, item: AgedItem): Promise<boolean> {
  if (await isInTrash(root.dir, item)) return false
  if (item.is_over) return true
  const { platform_id: platform, fs_path: path } = item
  return await isFolder(join(root.dir, path)) && !await library.isFolderAway(root, platform, path)
}

/** Defines the task that permanently deletes old items of the trash. */
export function defineEmptyTrash (app: FastifyInstance, config: Config): TaskDefinition {
  const { keep_days: days } = trashConfig.of(config)

  async function deleteRowsOfGone (): Promise<void> {
    const mounted = (await app.library.checkLibraries()).filter(({ problem }) => problem === null)
    const roots = new Map(mounted.map(({ root }) => [root.id, root]))
    for (let after = 0; ;) {
      const page = await selectOld(app.db, { after, limit: PAGE, days })
      const last = page.at(-1)
      if (last === undefined) return
      after = last.id
      const missingIds: number[] = []
      for (const item of page) {
        const root = roots.get(item.library_id)
        if (root !== undefined && await isGone(app.library, root, item)) missingIds.push(item.id)
      }
      await app.trash.deleteRows(missingIds)
    }
  }

  async function run ({ payload, signal, report }: TaskRun): Promise<void> {
    const { everything: isEverything = false } = payload as Static<typeof ArgumentsSchema>
    const before = Date.now() - (isEverything ? 0 : days * DAY_MS)
    const stats = { entries: 0 }
    for (const { library_id: library, trash } of await listTrashes(app.library)) {
      // Most folders have no trash.
      for (const name of await readdir(trash).catch(() => [])) {
        signal.throwIfAborted()
        const at = readEntry(name)
        if (at === null || at > before) continue
        // Delete the rows first, because nobody may restore an item that is being deleted.
        await app.trash.deleteRows(await selectEntry(app.db, library, name))
        await rm(join(trash, name), { recursive: true, force: true })
        stats.entries++
      }
    }
    await deleteRowsOfGone()
    await report({ cleanup_stats: stats })
  }

  return defineCleanup({
    name: 'empty_trash',
    title: 'Empty trash',
    description: `Permanently deletes ROMs and files that were deleted more than ${days} days ago, or all of them with "everything"`,
    cron_string: CRON,
    destructive: DELETES_ROMS,
    arguments: ArgumentsSchema,
    run
  })
}
