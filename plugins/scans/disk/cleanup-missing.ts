import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type Static, Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { isAbsent } from '../../../core/files/fs-error.ts'
import { findReadable } from '../../library/find-readable.ts'
import { defineCleanup } from '../../tasks/cleanup.ts'
import { DELETES_ROMS, type TaskDefinition, type TaskRun } from '../../tasks/definitions.ts'
import { createArtworkFolders } from '../../artwork/folders.ts'
import { type MissingRom, deleteMissing, selectMissing } from '../platform-rows.ts'

/** ROMs that one statement deletes, and after which the task reports its progress. */
const DELETED_AT_ONCE = 200

const ArgumentsSchema = Type.Object({
  platform_id: Type.Optional(Type.Union([Type.Integer({ minimum: 1 }), Type.Null()]))
}, { additionalProperties: false })

/** True for a path that is gone, and for a folder without files. What cannot be read may have some. */
async function hasNoFile (path: string): Promise<boolean> {
  if (await isAbsent(path)) return true
  const items = await readdir(path, { recursive: true, withFileTypes: true }).catch(() => null)
  return items?.every((item) => item.isDirectory()) ?? false
}

/** Lists the ROMs without a file. It may have come back since the last scan. */
async function listGone (dirs: ReadonlyMap<number, string>, roms: readonly MissingRom[]): Promise<MissingRom[]> {
  const gone: MissingRom[] = []
  for (const rom of roms) {
    const dir = dirs.get(rom.library_id)
    if (dir !== undefined && await hasNoFile(join(dir, rom.fs_path, rom.fs_name))) gone.push(rom)
  }
  return gone
}

/**
 * Deletes the rows and artwork of ROMs that scans found missing. Data that users added stays until the files are back.
 */
export function defineCleanupMissing (app: FastifyInstance): TaskDefinition {
  const folders = createArtworkFolders(app.store)

  /** Deletes the artwork of ROMs, as far as possible. @returns the number of failures */
  async function deleteArtwork (roms: readonly Pick<MissingRom, 'id' | 'platform_id'>[]): Promise<number> {
    let errors = 0
    for (const rom of roms) {
      await folders.remove(rom.platform_id, rom.id).catch((err: unknown) => {
        errors++
        app.log.warn({ err, rom: rom.id }, 'the artwork of a missing ROM could not be deleted')
      })
    }
    return errors
  }

  async function run ({ payload, signal, report }: TaskRun): Promise<void> {
    const { platform_id: platformId = null } = payload as Static<typeof ArgumentsSchema>
    const dirs = await findReadable(app.library)
    const roms = await selectMissing(app.db, platformId)
    const stats = { platform_id: platformId, roms_found: roms.length, roms_deleted: 0, errors: 0 }
    await report({ cleanup_stats: stats })
    for (let start = 0; start < roms.length; start += DELETED_AT_ONCE) {
      signal.throwIfAborted()
      const gone = await listGone(dirs, roms.slice(start, start + DELETED_AT_ONCE))
      const deleted = await deleteMissing(app.db, gone)
      stats.roms_deleted += deleted.length
      stats.errors += await deleteArtwork(deleted)
      await report({ cleanup_stats: stats })
    }
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
