import { rm } from 'node:fs/promises'
import type { FastifyInstance } from 'fastify'
import type { Context } from '../../core/access/context.ts'
import { inTransaction } from '../../core/database/transaction.ts'
import { createArtworkFolders } from '../artwork/folders.ts'
import type { BulkResult } from '../firmware/schemas.ts'
import type { AnyCaller } from '../platforms/visibility.ts'
import { type TrashedItem, deleteItems, lockItem, selectAfter, selectItems } from './rows.ts'
import { openLibrary, removeEmptied, removeItem } from './trash-folders.ts'
import { PAGE, forEachItem, itemNotFound } from './trashed-items.ts'

/** Creates the permanent deletion of items of the trash. */
export function createItemDeletion (app: FastifyInstance) {
  const artwork = createArtworkFolders(app.store)

  async function dropArtwork (roms: readonly { rom_id: number, platform_id: number }[]): Promise<void> {
    for (const { rom_id: rom, platform_id: platform } of roms) await artwork.remove(platform, rom)
  }

  async function removeOne (item: TrashedItem): Promise<void> {
    const dir = await openLibrary(app.library, item)
    const removedPath = await inTransaction(app.db, async (tx) => {
      if (!await lockItem(tx, item.id)) throw itemNotFound(item.id)
      const removed = await removeItem(dir, item)
      await dropArtwork(await deleteItems(tx, [item.id]))
      return removed
    })
    if (removedPath !== null) await rm(removedPath, { recursive: true, force: true })
    await removeEmptied(dir, item)
  }

  async function removeAll (context: Context<AnyCaller>): Promise<BulkResult> {
    const all: BulkResult = { successful_items: 0, failed_ids: [], errors: [] }
    for (let after = 0; ;) {
      const page = await selectAfter(context, after, PAGE)
      const last = page.at(-1)
      if (last === undefined) return all
      after = last.id
      const { result } = await forEachItem(page.map(({ id }) => id), new Map(page.map((item) => [item.id, item])), 'delete', removeOne)
      all.successful_items += result.successful_items
      all.failed_ids.push(...result.failed_ids)
      all.errors.push(...result.errors)
    }
  }

  return {
    /** Permanently deletes items of the trash. @param ids null means all that the caller sees */
    async empty (context: Context<AnyCaller>, ids: readonly number[] | null): Promise<BulkResult> {
      if (ids === null) return await removeAll(context)
      const uniqueIds = [...new Set(ids)]
      return (await forEachItem(uniqueIds, await selectItems(context, uniqueIds), 'delete', removeOne)).result
    },

    /** Deletes the rows and artwork of items whose files are permanently gone. */
    async deleteRows (ids: readonly number[]): Promise<void> {
      if (ids.length > 0) await dropArtwork(await deleteItems(app.db, ids))
    }
  }
}
