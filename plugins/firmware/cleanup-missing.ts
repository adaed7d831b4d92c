import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { isAbsent } from '../../core/files/fs-error.ts'
import { findReadable } from '../library/find-readable.ts'
import { defineCleanup } from '../tasks/cleanup.ts'
import type { TaskDefinition, TaskRun } from '../tasks/definitions.ts'
import { deleteFirmware, selectMissingFirmware } from './rows.ts'

/** Deletes the rows of firmware that scans found missing. */
export function defineCleanupMissing (app: FastifyInstance): TaskDefinition {
  async function run ({ signal, report }: TaskRun): Promise<void> {
    const dirs = await findReadable(app.library)
    const db = app.db
    const missing = await selectMissingFirmware(db)
    const gone: number[] = []
    for (const { id, library_id: library, file_path: folder, file_name: name } of missing) {
      signal.throwIfAborted()
      const dir = dirs.get(library)
      // The file may have come back since the last scan.
      if (dir !== undefined && await isAbsent(join(dir, folder, name))) gone.push(id)
    }
    await deleteFirmware(db, gone)
    const stats = { firmware_found: missing.length, firmware_deleted: gone.length }
    const deleted = new Set(gone)
    const files = missing.filter(({ id }) => deleted.has(id)).map(({ file_path: folder, file_name: name }) => `${folder}/${name}`)
    await report({ cleanup_stats: stats, deleted: files })
  }

  return defineCleanup({
    name: 'cleanup_missing_firmware',
    title: 'Cleanup missing firmware',
    description: 'Deletes firmware from the list if its files are missing from the library, and reports the deleted entries',
    destructive: { scope: 'firmware.write', grant: ['firmware', 'delete'] },
    run
  })
}
