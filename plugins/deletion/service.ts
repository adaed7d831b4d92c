import { rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import type { Context } from '../../core/access/context.ts'
import type { Config } from '../../core/config/config.ts'
import type { BulkResult } from '../firmware/schemas.ts'
import { createArtworkFolders } from '../artwork/folders.ts'
import { markPlatforms } from '../scans/platform-rows.ts'
import type { Disposal } from '../trash/move-to-trash.ts'
import { explainMove } from '../trash/trashed-items.ts'
import { announceDeleted } from './events.ts'
import { type RomToDelete, deleteRoms, selectDoomed } from './rows.ts'
import type { DeleteRoms } from './schemas.ts'

/**
 * The number of ROMs whose files are moved before their rows are deleted. An interruption affects at most this many.
 */
const BATCH = 100

const inBatches = (ids: readonly number[]): number[][] =>
  Array.from({ length: Math.ceil(ids.length / BATCH) }, (_none, index) => ids.slice(index * BATCH, (index + 1) * BATCH))

/** Moves the files of a ROM. @returns true if they are in the trash now, false if they were gone, or why they stay */
async function moveFiles (disposal: Disposal, rom: RomToDelete): Promise<boolean | string> {
  try {
    return await disposal.move({ ...rom, file_path: rom.fs_path, file_name: rom.fs_name })
  } catch (err) {
    return explainMove(err, `${rom.fs_path}/${rom.fs_name}`)
  }
}

/**
 * Moves the files of ROMs.
 *
 * @returns the ids of ROMs that the trash keeps, with their artwork, and why files of others stay
 */
async function moveAll (
  disposal: Disposal, roms: readonly RomToDelete[]
): Promise<{ trashed: Set<number>, reasons: Map<number, string> }> {
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
  return { trashed: new Set(trashIds.keys()), reasons }
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

  /** @returns the ROMs that were not deleted, with the reasons */
  async function deleteBatch (
    context: Context, ids: readonly number[], withFiles: ReadonlySet<number>, disposal: Disposal
  ): Promise<Map<number, string>> {
    const { db } = context
    const roms = await selectDoomed(context, ids)
    const audiences = await app.permissions.listAudiences(app.db, ids)
    const { trashed, reasons } = await moveAll(disposal, [...roms.values()].filter(({ id }) => withFiles.has(id)))
    const failed = new Map<number, string>()
    for (const id of ids) {
      const reason = reasons.get(id)
      if (!roms.has(id)) failed.set(id, `ROM with ID ${id} not found`)
      else if (reason !== undefined) failed.set(id, `Failed to delete ROM ${id}: ${reason}`)
    }
    const toDelete = ids.flatMap((id) => failed.has(id) ? [] : roms.get(id) ?? [])
    const deletedIds = await deleteRoms(db, toDelete)
    const deleted = toDelete.filter(({ id }) => deletedIds.has(id))
    for (const { id } of toDelete.filter((rom) => !deletedIds.has(rom.id))) {
      failed.set(id, `Failed to delete ROM ${id}: it is being renamed or moved; try again, or scan its platform first`)
    }
    announceDeleted(app, config, deleted.map(({ id }) => id), audiences)
    for (const rom of deleted.filter(({ id }) => !trashed.has(id))) await artwork.remove(rom.platform_id, rom.id)
    await removeEmptied(app, deleted.filter(({ id }) => withFiles.has(id)))
    return failed
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
          for (const [id, error] of await deleteBatch(context, batch, withFiles, disposal)) failed.set(id, error)
        }
        await disposal.finish()
      })
      return {
        successful_items: ids.length - failed.size, failed_ids: [...failed.keys()], errors: [...failed.values()]
      }
    }
  }
}
