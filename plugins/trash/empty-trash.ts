import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Static, Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../../core/config/config.ts'
import { TRASH_FOLDER } from '../library/exclusions.ts'
import { listWritableFolders } from '../library/find-place.ts'
import type { TaskDefinition, TaskRun } from '../tasks/definitions.ts'
import { readEntry } from './disposal.ts'

const CRON = '50 4 * * *'
const DAY_MS = 86_400_000

const ArgumentsSchema = Type.Object({
  everything: Type.Optional(Type.Boolean({ description: 'However new it is' }))
}, { additionalProperties: false })

/** Deletes for good what was deleted long ago. */
export function defineEmptyTrash (app: FastifyInstance, config: Config): TaskDefinition {
  const { keep_days: days } = config.trash

  /** Those of the libraries, and of platforms on disks of their own. */
  async function listTrashes (): Promise<string[]> {
    const roots = (await app.library.list()).filter((root) => root.is_writable)
    const folders = await listWritableFolders(app.library)
    return [...roots.map(({ dir }) => dir), ...folders.map(({ root, path }) => join(root.dir, path))]
      .map((folder) => join(folder, TRASH_FOLDER))
  }

  async function run ({ payload, signal, report }: TaskRun): Promise<void> {
    const { everything: isEverything = false } = payload as Static<typeof ArgumentsSchema>
    const before = Date.now() - (isEverything ? 0 : days * DAY_MS)
    const stats = { entries: 0 }
    for (const trash of await listTrashes()) {
      // Most have none.
      for (const name of await readdir(trash).catch(() => [])) {
        signal.throwIfAborted()
        const at = readEntry(name)
        if (at === null || at > before) continue
        await rm(join(trash, name), { recursive: true, force: true })
        stats.entries++
      }
    }
    await report({ cleanup_stats: stats })
  }

  return {
    name: 'empty_trash',
    title: 'Empty trash',
    description: `Deletes ROMs and files of ROMs for good that were deleted more than ${days} days ago, or all when run with everything`,
    type: 'cleanup',
    group: 'scheduled',
    enabled: true,
    manual_run: true,
    cron_string: CRON,
    destructive: true,
    isSingle: true,
    arguments: ArgumentsSchema,
    run
  }
}
