import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { errorCode } from '../../core/files/fs-error.ts'
import { findReadable } from '../library/find-readable.ts'
import type { TaskDefinition, TaskRun } from '../tasks/definitions.ts'
import { deleteFirmware, selectMissingFirmware } from './rows.ts'

/**
 * True if the file does not exist. A file that came back since the last scan is not gone; one that cannot be checked
 * may exist.
 */
async function isGone (path: string): Promise<boolean> {
  try {
    await lstat(path)
    return false
  } catch (err) {
    return ['ENOENT', 'ENOTDIR'].includes(errorCode(err))
  }
}

/** Deletes the rows of firmware that scans found missing. */
export function defineCleanupMissing (app: FastifyInstance): TaskDefinition {
  async function run ({ signal, report }: TaskRun): Promise<void> {
    const dirs = await findReadable(app.library)
    const em = app.orm.em.fork()
    const missing = await selectMissingFirmware(em)
    const gone: number[] = []
    for (const { id, library_id: library, file_path: folder, file_name: name } of missing) {
      signal.throwIfAborted()
      const dir = dirs.get(library)
      if (dir !== undefined && await isGone(join(dir, folder, name))) gone.push(id)
    }
    await deleteFirmware(em, gone)
    const stats = { firmware_found: missing.length, firmware_deleted: gone.length }
    const deleted = new Set(gone)
    const files = missing.filter(({ id }) => deleted.has(id)).map(({ file_path: folder, file_name: name }) => `${folder}/${name}`)
    await report({ cleanup_stats: stats, deleted: files })
  }

  return {
    name: 'cleanup_missing_firmware',
    title: 'Cleanup missing firmware',
    description: 'Deletes firmware from the list if its files are missing from the library, and reports which',
    type: 'cleanup',
    group: 'manual',
    enabled: true,
    manual_run: true,
    cron_string: '',
    destructive: { scope: 'firmware.write', grant: ['firmware', 'delete'] },
    isSingle: true,
    arguments: Type.Object({}, { additionalProperties: false }),
    run
  }
}
