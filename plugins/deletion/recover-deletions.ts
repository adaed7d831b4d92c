import type { FastifyInstance } from 'fastify'
import type { Config } from '../../core/config/config.ts'
import { inTransaction } from '../../core/database/transaction.ts'
import { workKeyOf } from '../trash/move-to-trash.ts'
import { type TrashedItem, deleteItems, deleteRom, lockItem, selectHalfDone } from '../trash/rows.ts'
import { isBack, isInTrash } from '../trash/trash-folders.ts'
import { announceDeleted } from './events.ts'
import { removeEmptied } from './service.ts'

/**
 * Makes the rows of an interrupted deletion or restore agree with the disk: deletes the ROM if its files are in the
 * trash, or else its item if its files are in the library. While both or neither of them are there, both rows stay.
 *
 * @param dir the folder of the item's library
 * @returns true if the ROM was deleted
 */
async function recoverItem ({ db, workers }: FastifyInstance, dir: string, item: TrashedItem): Promise<boolean> {
  return await inTransaction(db, async (tx) => {
    // The lock of the item stops restores that begin after the check of the key.
    if (!await lockItem(tx, item.id) || await workers.isLocked(workKeyOf(item.entry))) return false
    // Loads the item again, because running work may have finished before the check.
    if ((await selectHalfDone(tx, [item.id])).length === 0) return false
    const [isTrashed, isListed] = [await isInTrash(dir, item), await isBack(dir, item)]
    if (isTrashed && !isListed) await deleteRom(tx, item.rom_id)
    if (isListed && !isTrashed) await deleteItems(tx, [item.id])
    return isTrashed && !isListed
  })
}

/** Recovers an item; the log gets the error of its disk. @returns true if the ROM was deleted */
async function tryItem (app: FastifyInstance, dir: string | undefined, item: TrashedItem): Promise<boolean> {
  try {
    return dir !== undefined && await recoverItem(app, dir, item)
  } catch (err) {
    app.log.warn({ err, item: item.id }, 'an interrupted deletion could not be recovered; the next scan tries again')
    return false
  }
}

/**
 * Recovers ROMs that are in a list and in the trash, because a process was killed during their deletion or restore.
 * ROMs of libraries that are not mounted wait for the next call.
 */
export async function recoverDeletions (app: FastifyInstance, config: Config): Promise<void> {
  const items = await selectHalfDone(app.db)
  if (items.length === 0) return
  const dirs = new Map((await app.library.list()).map(({ id, dir }) => [id, dir]))
  const audiences = await app.permissions.listAudiences(app.db, items.map((item) => item.rom_id))
  const deleted: TrashedItem[] = []
  for (const item of items) if (await tryItem(app, dirs.get(item.library_id), item)) deleted.push(item)
  announceDeleted(app, config, deleted.map((item) => item.rom_id), audiences)
  await removeEmptied(app, deleted)
}
