import { rm } from 'node:fs/promises'
import type { FastifyInstance } from 'fastify'
import type { Context } from '../../core/access/context.ts'
import type { Config } from '../../core/config/config.ts'
import { inTransaction } from '../../core/database/transaction.ts'
import { ApiError, conflict, notFound } from '../../core/errors.ts'
import { errorCode } from '../../core/files/fs-error.ts'
import { trashConfig } from './config.ts'
import type { BulkResult } from '../firmware/schemas.ts'
import { toRefusal } from '../library/write-checks.ts'
import type { AnyCaller } from '../platforms/visibility.ts'
import { createArtworkFolders } from '../artwork/folders.ts'
import { openDisposal } from './move-to-trash.ts'
import { createTrashFolders } from './trash-folders.ts'
import {
  type TrashedItem, deleteItems, deleteRom, isPlatformListed, lockItem, restoreRomRows, selectAfter,
  selectFileTarget, selectItems,
  selectPage
} from './rows.ts'
import type { TrashPage } from './schemas.ts'
import { toTrashView } from './views.ts'

/** The number of items that are deleted or announced together. */
const PAGE = 500

const itemNotFound = (id: number) => notFound(`Item with ID '${id}' of the trash not found`)
const nameOf = ({ file_path: path, file_name: name }: TrashedItem) => `${path}/${name}`

/** Returns why an item cannot be moved, without absolute paths. */
function reasonOf (err: unknown, item: TrashedItem): string {
  const refusal = toRefusal(err, nameOf(item))
  if (refusal instanceof ApiError) return refusal.message
  if (errorCode(err) === '') throw err
  return `'${nameOf(item)}' cannot be moved (${errorCode(err)}); check its disk`
}

export function createTrash (app: FastifyInstance, config: Config) {
  const { keep_days: keepDays } = trashConfig.of(config)
  const artwork = createArtworkFolders(config.data_dir)
  const trashFolders = createTrashFolders(app)

  /** Returns the reason why each item cannot be restored now. */
  async function findProblems (items: readonly TrashedItem[]): Promise<Map<number, string | null>> {
    const states = new Map((await app.library.checkLibraries()).map((state) => [state.root.id, state]))
    async function problemOf (item: TrashedItem): Promise<string | null> {
      const state = states.get(item.library_id)
      if (state === undefined) return `the library with ID ${item.library_id} is not configured`
      if (state.problem !== null) return `the library '${state.root.name}' is not mounted: ${state.problem}`
      const { dir } = state.root
      return await trashFolders.contains(dir, item) || await trashFolders.isBack(dir, item) ? null : 'it is not in the trash any more'
    }
    return new Map(await Promise.all(items.map(async (item) => [item.id, await problemOf(item)] as const)))
  }

  async function dropArtwork (roms: readonly { rom_id: number, platform_id: number }[]): Promise<void> {
    for (const { rom_id: rom, platform_id: platform } of roms) await artwork.remove(platform, rom)
  }

  /** Restores the rows of a ROM. @returns true if rows were added */
  async function restoreRows (item: TrashedItem): Promise<boolean> {
    return await inTransaction(app.db, async (tx) => {
      if (!await lockItem(tx, item.id)) throw itemNotFound(item.id)
      if (!await isPlatformListed(tx, item.platform_id)) {
        throw conflict(`The platform '${item.platform_fs_slug}' is not in the list any more; add it again, then restore this item`)
      }
      return item.kind === 'rom' && await restoreRomRows(tx, item.id, item.rom_id)
    })
  }

  async function restoreFiles (dir: string, item: TrashedItem): Promise<void> {
    await inTransaction(app.db, async (tx) => {
      if (!await lockItem(tx, item.id)) throw itemNotFound(item.id)
      const fileTarget = await selectFileTarget(tx, item.rom_id)
      if (item.kind === 'file' && fileTarget === null) throw conflict(`The ROM '${item.name}' is not in the list; restore that ROM first`)
      await deleteItems(tx, [item.id])
      await trashFolders.restore(dir, item, fileTarget)
    })
  }

  /** Deletes the rows of a ROM again if its file stays in the trash. */
  async function withdrawRows (dir: string, item: TrashedItem): Promise<void> {
    await inTransaction(app.db, async (tx) => {
      await lockItem(tx, item.id)
      if (!await trashFolders.isBack(dir, item)) await deleteRom(tx, item.rom_id)
    })
  }

  /**
   * Restores an item. Rows are committed before the file moves: a scan that finds the file at any moment, also after a
   * crash, recognises the ROM. An interrupted restore leaves the ROM listed and its item in the trash.
   */
  async function restoreOne (item: TrashedItem): Promise<void> {
    const dir = await trashFolders.openLibrary(item)
    const isAdded = await restoreRows(item)
    try {
      await restoreFiles(dir, item)
    } catch (err) {
      if (isAdded) await withdrawRows(dir, item)
      throw err
    }
    await trashFolders.removeEmptied(dir, item)
  }

  /** Returns the entry of the platform folder that the item is or belongs to. */
  async function findRomName (item: TrashedItem): Promise<string> {
    if (item.kind === 'rom') return item.file_name
    return (await selectFileTarget(app.db, item.rom_id))?.fs_name ?? item.file_name
  }

  /** Scans restored entries, with one scan for each folder. */
  async function scanRestored (items: readonly TrashedItem[], userId: number | null): Promise<void> {
    const byFolder = Map.groupBy(items, ({ platform_id: platform, library_id: library }) => `${platform} ${library}`)
    for (const group of byFolder.values()) {
      const [first] = group
      if (first === undefined) continue
      const names = await Promise.all(group.map(findRomName))
      await app.scans.scanEntries({ id: first.platform_id, library_id: first.library_id }, [...new Set(names)], userId)
    }
    const ids = [...new Set(items.map((item) => item.rom_id))]
    for (let start = 0; start < ids.length; start += PAGE) await app.editing.announce(...ids.slice(start, start + PAGE))
  }

  async function removeOne (item: TrashedItem): Promise<void> {
    const dir = await trashFolders.openLibrary(item)
    const removedPath = await inTransaction(app.db, async (tx) => {
      if (!await lockItem(tx, item.id)) throw itemNotFound(item.id)
      const removed = await trashFolders.removeItem(dir, item)
      await dropArtwork(await deleteItems(tx, [item.id]))
      return removed
    })
    if (removedPath !== null) await rm(removedPath, { recursive: true, force: true })
    await trashFolders.removeEmptied(dir, item)
  }

  /** Runs work on each item, and collects the failures. */
  async function forEachItem (
    ids: readonly number[], items: ReadonlyMap<number, TrashedItem>, words: string,
    work: (item: TrashedItem) => Promise<void>
  ): Promise<{ done: TrashedItem[], result: BulkResult }> {
    const done: TrashedItem[] = []
    const failed = new Map<number, string>()
    for (const id of ids) {
      const item = items.get(id)
      if (item === undefined) {
        failed.set(id, itemNotFound(id).message)
        continue
      }
      try {
        await work(item)
        done.push(item)
      } catch (err) {
        failed.set(id, `Failed to ${words} ${id}: ${reasonOf(err, item)}`)
      }
    }
    const result = { successful_items: done.length, failed_ids: [...failed.keys()], errors: [...failed.values()] }
    return { done, result }
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
    /**
     * Opens a disposal of library files.
     *
     * @param isPermanent true if files are permanently deleted in the end, whatever the settings say
     */
    open: (isPermanent: boolean, userId: number | null) => openDisposal(app, !isPermanent && keepDays > 0, userId),

    /** Lists items, the last deleted first. */
    async list (context: Context<AnyCaller>, page: { limit: number, offset: number }): Promise<TrashPage> {
      const { items, total } = await selectPage(context, page)
      const problems = await findProblems(items)
      return { items: items.map((item) => toTrashView(item, keepDays, problems.get(item.id) ?? null)), total, ...page }
    },

    /**
     * Restores deleted items: files to their former paths, ROMs with their ids and all their data. Existing files
     * are not replaced.
     */
    async restore (
      context: Context<AnyCaller>, ids: readonly number[], userId: number | null
    ): Promise<BulkResult> {
      const uniqueIds = [...new Set(ids)]
      // A file is restored after the ROM that it belongs to.
      const items = await selectItems(context, uniqueIds)
      const isFile = (id: number) => items.get(id)?.kind === 'file'
      const inOrder = uniqueIds.toSorted((a, b) => Number(isFile(a)) - Number(isFile(b)))
      const { done, result } = await forEachItem(inOrder, items, 'restore', restoreOne)
      await scanRestored(done, userId)
      return result
    },

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
export type Trash = ReturnType<typeof createTrash>
