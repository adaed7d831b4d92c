import { join } from 'node:path'
import { type Static, Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { isAbsent } from '../../../core/files/fs-error.ts'
import { findReadable } from '../../library/find-readable.ts'
import { Rom } from '../../roms/entities.ts'
import { defineCleanup } from '../../tasks/cleanup.ts'
import { DELETES_ROMS, type TaskDefinition, type TaskRun } from '../../tasks/definitions.ts'
import { createArtworkFolders } from '../../artwork/folders.ts'
import { type MissingRom, selectMissing } from '../platform-rows.ts'

const ArgumentsSchema = Type.Object({
  platform_id: Type.Optional(Type.Union([Type.Integer({ minimum: 1 }), Type.Null()]))
}, { additionalProperties: false })

/**
 * Deletes the rows and artwork of ROMs that scans found missing. Data that users added stays until the files are back.
 */
export function defineCleanupMissing (app: FastifyInstance): TaskDefinition {
  const folders = createArtworkFolders(app.store)

  async function deleteOne (rom: MissingRom): Promise<void> {
    await app.db.em.nativeDelete(Rom, { id: rom.id, missing_from_fs: true })
    await folders.remove(rom.platform_id, rom.id)
  }

  async function run ({ payload, signal, report }: TaskRun): Promise<void> {
    const { platform_id: platformId = null } = payload as Static<typeof ArgumentsSchema>
    const dirs = await findReadable(app.library)
    const roms = await selectMissing(app.db, platformId)
    const stats = { platform_id: platformId, roms_found: roms.length, roms_deleted: 0, errors: 0 }
    await report({ cleanup_stats: stats })
    for (const rom of roms) {
      signal.throwIfAborted()
      const dir = dirs.get(rom.library_id)
      // The file may have come back since the last scan.
      if (dir === undefined || !await isAbsent(join(dir, rom.fs_path, rom.fs_name))) continue
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

  return defineCleanup({
    name: 'cleanup_missing_roms',
    title: 'Cleanup missing ROMs',
    description: 'Deletes ROMs whose files are missing from the library, with their artwork; ratings, marks and ' +
      'visibility return with the files',
    destructive: DELETES_ROMS,
    arguments: ArgumentsSchema,
    run
  })
}
