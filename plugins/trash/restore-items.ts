import type { FastifyInstance } from 'fastify'
import type { Context } from '../../core/access/context.ts'
import { inTransaction } from '../../core/database/transaction.ts'
import { conflict } from '../../core/errors.ts'
import type { BulkResult } from '../firmware/schemas.ts'
import type { AnyCaller } from '../platforms/visibility.ts'
import {
  type TrashedItem, deleteItems, deleteRom, isPlatformListed, lockItem, restoreRomRows, selectFileTarget, selectItems,
  selectWithoutCover
} from './rows.ts'
import { workKeyOf } from './move-to-trash.ts'
import { isBack, openLibrary, removeEmptied, restoreFile } from './trash-folders.ts'
import { PAGE, forEachItem, itemNotFound } from './trashed-items.ts'

/** The app parts that a restore needs. */
type Services = Pick<FastifyInstance, 'db' | 'library' | 'scans' | 'editing' | 'workers'>

/** Restores the rows of a ROM. @returns true if rows were added */
async function restoreRows ({ db }: Services, item: TrashedItem): Promise<boolean> {
  return await inTransaction(db, async (tx) => {
    if (!await lockItem(tx, item.id)) throw itemNotFound(item.id)
    if (!await isPlatformListed(tx, item.platform_id)) {
      throw conflict(`The platform '${item.platform_fs_slug}' is not in the list any more; add it again, then restore this item`)
    }
    return item.kind === 'rom' && await restoreRomRows(tx, item.id, item.rom_id)
  })
}

async function restoreFiles ({ db }: Services, dir: string, item: TrashedItem): Promise<void> {
  await inTransaction(db, async (tx) => {
    if (!await lockItem(tx, item.id)) throw itemNotFound(item.id)
    const fileTarget = await selectFileTarget(tx, item.rom_id)
    if (item.kind === 'file' && fileTarget === null) throw conflict(`The ROM '${item.name}' is not in the list; restore that ROM first`)
    await deleteItems(tx, [item.id])
    await restoreFile(dir, item, fileTarget)
  })
}

/** Deletes the rows of a ROM again if its file stays in the trash. */
async function withdrawRows ({ db }: Services, dir: string, item: TrashedItem): Promise<void> {
  await inTransaction(db, async (tx) => {
    await lockItem(tx, item.id)
    if (!await isBack(dir, item)) await deleteRom(tx, item.rom_id)
  })
}

/**
 * Restores an item. Rows are committed before the file moves: a scan that finds the file at any moment, also after a
 * crash, recognises the ROM. An interrupted restore leaves the ROM listed and its item in the trash; `plugins/deletion`
 * recovers both.
 */
async function restoreOne (app: Services, item: TrashedItem): Promise<void> {
  const dir = await openLibrary(app.library, item)
  const isAdded = await restoreRows(app, item)
  try {
    await restoreFiles(app, dir, item)
  } catch (err) {
    if (isAdded) await withdrawRows(app, dir, item)
    throw err
  }
  await removeEmptied(dir, item)
}

/** Returns the entry of the platform folder that the item is or belongs to. */
async function findRomName ({ db }: Services, item: TrashedItem): Promise<string> {
  if (item.kind === 'rom') return item.file_name
  return (await selectFileTarget(db, item.rom_id))?.fs_name ?? item.file_name
}

/** Scans restored entries, with one scan for each folder, and looks ROMs up again that lost their cover. */
async function scanRestored (app: Services, items: readonly TrashedItem[], userId: number | null): Promise<void> {
  const byFolder = Map.groupBy(items, ({ platform_id: platform, library_id: library }) => `${platform} ${library}`)
  for (const group of byFolder.values()) {
    const [first] = group
    if (first === undefined) continue
    const names = await Promise.all(group.map((item) => findRomName(app, item)))
    await app.scans.scanEntries({ id: first.platform_id, library_id: first.library_id }, [...new Set(names)], userId)
  }
  const ids = [...new Set(items.map((item) => item.rom_id))]
  const coverless = await selectWithoutCover(app.db, ids)
  if (coverless.length > 0) await app.scans.lookUpRoms(coverless, userId)
  for (let start = 0; start < ids.length; start += PAGE) await app.editing.announce(...ids.slice(start, start + PAGE))
}

/**
 * Restores deleted items: files to their former paths, ROMs with their ids and all their data. Existing files
 * are not replaced.
 */
export async function restoreItems (
  app: Services, context: Context<AnyCaller>, ids: readonly number[]
): Promise<BulkResult> {
  const uniqueIds = [...new Set(ids)]
  // A file is restored after the ROM that it belongs to.
  const items = await selectItems(context, uniqueIds)
  const isFile = (id: number) => items.get(id)?.kind === 'file'
  const inOrder = uniqueIds.toSorted((a, b) => Number(isFile(a)) - Number(isFile(b)))
  const { done, result } = await forEachItem(inOrder, items, 'restore', (item) => app.workers.runLocked(
    workKeyOf(item.entry), () => restoreOne(app, item)))
  await scanRestored(app, done, context.caller?.id ?? null)
  return result
}
