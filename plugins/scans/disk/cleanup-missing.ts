import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { type Static, Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../../../core/config/config.ts'
import { errorCode } from '../../../core/files/fs-error.ts'
import { findReadable } from '../../library/find-readable.ts'
import { Rom } from '../../roms/entities.ts'
import { DELETES_ROMS, type TaskDefinition, type TaskRun } from '../../tasks/definitions.ts'
import { createArtworkFolders } from '../../artwork/folders.ts'
import { type MissingRom, selectMissing } from '../platform-rows.ts'

const ArgumentsSchema = Type.Object({
  platform_id: Type.Optional(Type.Union([Type.Integer({ minimum: 1 }), Type.Null()]))
}, { additionalProperties: false })

/**
 * True if the file does not exist. A file that came back since the last scan is not gone; one that cannot be checked
 * may exist.
 */
async function isGone (libraryDir: string, rom: MissingRom): Promise<boolean> {
  try {
    await lstat(join(libraryDir, rom.fs_path, rom.fs_name))
    return false
  } catch (err) {
    return ['ENOENT', 'ENOTDIR'].includes(errorCode(err))
  }
}

/**
 * Deletes the rows and artwork of ROMs that scans found missing. Data that users added stays until the files are back.
 */
export function defineCleanupMissing (app: FastifyInstance, config: Config): TaskDefinition {
  const folders = createArtworkFolders(config.data_dir)

  async function deleteOne (rom: MissingRom): Promise<void> {
    await app.orm.em.fork().nativeDelete(Rom, { id: rom.id, missing_from_fs: true })
    await folders.remove(rom.platform_id, rom.id)
  }

  async function run ({ payload, signal, report }: TaskRun): Promise<void> {
    const { platform_id: platformId = null } = payload as Static<typeof ArgumentsSchema>
    const dirs = await findReadable(app.library)
    const roms = await selectMissing(app.pg, platformId)
    const stats = { platform_id: platformId, roms_found: roms.length, roms_deleted: 0, errors: 0 }
    await report({ cleanup_stats: stats })
    for (const rom of roms) {
      signal.throwIfAborted()
      const dir = dirs.get(rom.library_id)
      if (dir === undefined || !await isGone(dir, rom)) continue
      try {
        await deleteOne(rom)
        stats.roms_deleted++
      } catch (err) {
        stats.errors++
        app.log.warn({ err, rom: rom.id }, 'a missing ROM could not be deleted')
      }
    }
    await report({ cleanup_stats: stats })
  }

  return {
    name: 'cleanup_missing_roms',
    title: 'Cleanup missing ROMs',
    description: 'Deletes ROMs whose files are missing from the library, with their artwork; ratings, marks and ' +
      'visibility return with the files',
    type: 'cleanup',
    group: 'manual',
    enabled: true,
    manual_run: true,
    cron_string: '',
    destructive: DELETES_ROMS,
    isSingle: true,
    arguments: ArgumentsSchema,
    run
  }
}
