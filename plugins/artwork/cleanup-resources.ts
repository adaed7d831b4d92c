import { type Static, Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../../core/config/config.ts'
import { conflict } from '../../core/errors.ts'
import { tasksConfig } from '../tasks/config.ts'
import { defineCleanup } from '../tasks/cleanup.ts'
import { DELETES_ROMS, type TaskDefinition, type TaskRun } from '../tasks/definitions.ts'
import { createArtworkFolders } from './folders.ts'
import { selectOwners } from './rows.ts'

const ArgumentsSchema = Type.Object({
  force: Type.Optional(Type.Boolean({ description: 'Also if the database contains no platform at all' }))
}, { additionalProperties: false })

/** Deletes artwork folders whose platform or ROM has no row. */
export function defineCleanupResources (app: FastifyInstance, config: Config): TaskDefinition {
  const folders = createArtworkFolders(app.store)

  async function run ({ payload, signal, report }: TaskRun): Promise<void> {
    const { force = false } = payload as Static<typeof ArgumentsSchema>
    // Read folders before rows, because the row of a folder created meanwhile is then found.
    const found = new Map<number, number[]>()
    for (const id of await folders.listPlatforms()) found.set(id, await folders.listRoms(id))
    const rows = await selectOwners(app.db)
    if (rows.platforms.size === 0 && found.size > 0 && !force) {
      throw conflict(`The database has no platform, but there is artwork of ${found.size}. Nothing was deleted. ` +
        'Check that this is the right database, or run the task with force.')
    }
    const stats = {
      platforms_in_db: rows.platforms.size,
      roms_in_db: rows.roms.size,
      platforms_in_fs: found.size,
      roms_in_fs: [...found.values()].flat().length,
      removed_fs_platforms: 0,
      removed_fs_roms: 0
    }
    for (const [platformId, romIds] of found) {
      signal.throwIfAborted()
      if (!rows.platforms.has(platformId)) {
        await folders.removePlatform(platformId)
        stats.removed_fs_platforms++
        stats.removed_fs_roms += romIds.length
        continue
      }
      for (const romId of romIds.filter((id) => rows.roms.get(id) !== platformId)) {
        await folders.remove(platformId, romId)
        stats.removed_fs_roms++
      }
      await report({ cleanup_stats: stats })
    }
    await report({ cleanup_stats: stats })
  }

  return defineCleanup({
    name: 'cleanup_orphaned_resources',
    title: 'Cleanup orphaned resources',
    description: 'Deletes artwork whose platform or ROM is no longer in the database',
    enabled: tasksConfig.of(config).cleanup_orphaned_resources,
    cron_string: tasksConfig.of(config).cleanup_orphaned_resources_cron,
    destructive: DELETES_ROMS,
    arguments: ArgumentsSchema,
    run
  })
}
