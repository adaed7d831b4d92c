import { rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import type { Context } from '../../core/access/context.ts'
import type { Config } from '../../core/config/config.ts'
import { ApiError } from '../../core/errors.ts'
import { errorCode } from '../../core/files/fs-error.ts'
import type { BulkResult } from '../firmware/schemas.ts'
import { toRefusal } from '../library/write-checks.ts'
import { createArtworkFolders } from '../artwork/folders.ts'
import { markPlatforms } from '../scans/platform-rows.ts'
import type { Disposal } from '../trash/move-to-trash.ts'
import { announceDeleted } from './events.ts'
import { type RomToDelete, deleteRoms, selectDoomed } from './rows.ts'
import type { DeleteRoms } from './schemas.ts'

/**
 * The number of ROMs whose files are moved before their rows are deleted. An interruption affects at most this many.
 */
const BATCH = 100

/** Returns why the files of a ROM stay, without absolute paths. */
function reasonOf (err: unknown, { fs_path: path, fs_name: name }: RomToDelete): string {
  const refusal = toRefusal(err, `${path}/${name}`)
  if (refusal instanceof ApiError) return refusal.message
  if (errorCode(err) === '') throw err
  return `'${path}/${name}' cannot be moved (${errorCode(err)}); check its disk`
}

const inBatches = (ids: readonly number[]): number[][] =>
  Array.from({ length: Math.ceil(ids.length / BATCH) }, (_none, index) => ids.slice(index * BATCH, (index + 1) * BATCH))

/** The result of one call. */
interface DeletionResult { failed: Map<number, string>, deleted: RomToDelete[] }

/** Moves the files of a ROM. @returns true if they are in the trash now, false if they were gone, or why they stay */
async function moveFiles (disposal: Disposal, rom: RomToDelete): Promise<boolean | string> {
  try {
    return await disposal.move({ ...rom, file_path: rom.fs_path, file_name: rom.fs_name })
  } catch (err) {
    return reasonOf(err, rom)
  }
}

/**
 * Moves the files of ROMs.
 *
 * @returns the ids of ROMs that the trash keeps, with their artwork, and why files of others stay
 */
async function moveAll (
  disposal: Disposal, roms: readonly RomToDelete[]
): Promise<{ remaining: Set<number>, reasons: Map<number, string> }> {
  const trashIds = new Map(await disposal.storeRoms(roms.map(({ id }) => id)))
  const reasons = new Map<number, string>()
  const idle: number[] = []
  for (const rom of roms) {
    const moved = await moveFiles(disposal, rom)
    if (typeof moved === 'string') reasons.set(rom.id, moved)
    const item = trashIds.get(rom.id)
    if (moved === true || item === undefined) continue
    idle.push(item)
    trashIds.delete(rom.id)
  }
  await disposal.deleteRows(idle)
  return { remaining: new Set(trashIds.keys()), reasons }
}

/** Removes platform folders that became empty. A disk that is mounted there stays. */
export async function removeEmptied (
  { db, library: libraries }: FastifyInstance,
  roms: readonly Pick<RomToDelete, 'library_id' | 'platform_id' | 'fs_path' | 'is_folder'>[]
): Promise<void> {
  const inFolders = roms.filter((rom) => !rom.is_folder && rom.fs_path !== '')
  const folders = new Map(inFolders.map((rom) => [`${rom.library_id} ${rom.fs_path}`, rom]))
  for (const { library_id: library, platform_id: platform, fs_path: path } of folders.values()) {
    const { dir } = await libraries.get(library)
    const isRemoved = await rmdir(join(dir, path)).then(() => true, () => false)
    if (isRemoved) await markPlatforms(db, library, [], [platform])
  }
}

export function createDeletion (app: FastifyInstance, config: Config) {
  const artwork = createArtworkFolders(app.store)

  async function deleteBatch (
    context: Context, ids: readonly number[], withFiles: ReadonlySet<number>, disposal: Disposal
  ): Promise<DeletionResult> {
    const { db } = context
    const roms = await selectDoomed(context, ids)
    const audiences = await app.permissions.listAudiences(app.db, ids)
    const { remaining: kept, reasons } = await moveAll(
      disposal, [...roms.values()].filter(({ id }) => withFiles.has(id))
    )
    const outcome: DeletionResult = { failed: new Map(), deleted: [] }
    for (const id of ids) {
      const rom = roms.get(id)
      const reason = reasons.get(id)
      if (rom === undefined) outcome.failed.set(id, `ROM with ID ${id} not found`)
      else if (reason !== undefined) outcome.failed.set(id, `Failed to delete ROM ${id}: ${reason}`)
      else outcome.deleted.push(rom)
    }
    const deleted = await deleteRoms(db, outcome.deleted)
    for (const { id } of outcome.deleted.filter((rom) => !deleted.has(rom.id))) {
      outcome.failed.set(id, `Failed to delete ROM ${id}: it is being renamed or moved; try again, or scan its platform first`)
    }
    outcome.deleted = outcome.deleted.filter(({ id }) => deleted.has(id))
    const gone = outcome.deleted.map(({ id }) => id)
    announceDeleted(app, config, gone, audiences)
    for (const rom of outcome.deleted.filter(({ id }) => !kept.has(id))) await artwork.remove(rom.platform_id, rom.id)
    await removeEmptied(app, outcome.deleted.filter(({ id }) => withFiles.has(id)))
    return outcome
  }

  return {
    /**
     * Deletes ROMs from the list, and the files of the named ones. Data that people added waits for the files to come
     * back. A ROM whose files cannot be deleted stays in the list.
     */
    async deleteRoms (context: Context, input: DeleteRoms): Promise<BulkResult> {
      const { caller } = context
      const ids = [...new Set(input.roms)]
      const withFiles = new Set(input.delete_from_fs)
      const disposal = app.trash.open(input.permanently === true, caller.id)
      const failed = new Map<number, string>()
      await disposal.run(async () => {
        for (const batch of inBatches(ids)) {
          const outcome = await deleteBatch(context, batch, withFiles, disposal)
          for (const [id, error] of outcome.failed) failed.set(id, error)
        }
        await disposal.finish()
      })
      return {
        successful_items: ids.length - failed.size, failed_ids: [...failed.keys()], errors: [...failed.values()]
      }
    }
  }
}
