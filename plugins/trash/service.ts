import { rm } from 'node:fs/promises'
import type { EntityManager } from '@mikro-orm/postgresql'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../../core/config/config.ts'
import { transaction } from '../../core/database/transaction.ts'
import { ApiError, conflict, notFound } from '../../core/errors.ts'
import { errorCode } from '../../core/files/fs-error.ts'
import type { BulkResult } from '../firmware/schemas.ts'
import { toRefusal } from '../library/write-checks.ts'
import type { AnyCaller } from '../platforms/visibility.ts'
import { createArtworkFolders } from '../artwork/folders.ts'
import { openDisposal } from './move-to-trash.ts'
import { createTrashFolders } from './trash-folders.ts'
import {
  type Trashed, deleteItems, deleteRom, isPlatformListed, lockItem, putBackRom, selectAfter, selectHome, selectItems,
  selectPage
} from './rows.ts'
import type { TrashPage } from './schemas.ts'
import { toTrashView } from './views.ts'

/** So many are looked at, and told of, together. */
const PAGE = 500

const unknown = (id: number) => notFound(`There is nothing with ID ${id} in the trash`)
const nameOf = ({ file_path: path, file_name: name }: Trashed) => `${path}/${name}`

/** Why something stays where it is, in words that name no place of the machine. */
function reasonOf (err: unknown, item: Trashed): string {
  const refusal = toRefusal(err, nameOf(item))
  if (refusal instanceof ApiError) return refusal.message
  if (errorCode(err) === '') throw err
  return `'${nameOf(item)}' cannot be moved (${errorCode(err)}); look at its disk`
}

export function createTrash (app: FastifyInstance, config: Config) {
  const { keep_days: keepDays } = config.trash
  const artwork = createArtworkFolders(config.data_dir)
  const places = createTrashFolders(app)

  /** Why each of some items cannot come back now. */
  async function findProblems (items: readonly Trashed[]): Promise<Map<number, string | null>> {
    const states = new Map((await app.library.look()).map((state) => [state.root.id, state]))
    async function problemOf (item: Trashed): Promise<string | null> {
      const state = states.get(item.library_id)
      if (state === undefined) return `the library with ID ${item.library_id} is not configured`
      if (state.problem !== null) return `the library '${state.root.name}' is not mounted: ${state.problem}`
      const { dir } = state.root
      return await places.isThere(dir, item) || await places.isBack(dir, item) ? null : 'it is not in the trash any more'
    }
    return new Map(await Promise.all(items.map(async (item) => [item.id, await problemOf(item)] as const)))
  }

  async function dropArtwork (roms: readonly { rom_id: number, platform_id: number }[]): Promise<void> {
    for (const { rom_id: rom, platform_id: platform } of roms) await artwork.remove(platform, rom)
  }

  /** @returns whether the rows of a ROM were added */
  async function restoreRows (item: Trashed): Promise<boolean> {
    return await transaction(app.pg, async (client) => {
      if (!await lockItem(client, item.id)) throw unknown(item.id)
      if (!await isPlatformListed(client, item.platform_id)) {
        throw conflict(`The platform '${item.platform_fs_slug}' is not in the list any more; add it again, then restore this`)
      }
      return item.kind === 'rom' && await putBackRom(client, item.id, item.rom_id)
    })
  }

  async function restoreFiles (dir: string, item: Trashed): Promise<void> {
    await transaction(app.pg, async (client) => {
      if (!await lockItem(client, item.id)) throw unknown(item.id)
      const home = await selectHome(client, item.rom_id)
      if (item.kind === 'file' && home === null) throw conflict(`The ROM '${item.name}' is not in the list; restore that first`)
      await deleteItems(client, [item.id])
      await places.bringBack(dir, item, home)
    })
  }

  /** Takes a ROM off the list again whose file stays in the trash. */
  async function withdrawRows (dir: string, item: Trashed): Promise<void> {
    await transaction(app.pg, async (client) => {
      await lockItem(client, item.id)
      if (!await places.isBack(dir, item)) await deleteRom(client, item.rom_id)
    })
  }

  /**
   * Rows are committed before the file moves: a scan that finds the file at any moment, also after a crash, takes it
   * for the ROM that it was. A restore that is cut short leaves the ROM listed and its item in the trash.
   */
  async function restoreOne (item: Trashed): Promise<void> {
    const dir = await places.openLibrary(item)
    const isAdded = await restoreRows(item)
    try {
      await restoreFiles(dir, item)
    } catch (err) {
      if (isAdded) await withdrawRows(dir, item)
      throw err
    }
    await places.removeEmptied(dir, item)
  }

  /** What of the platform's folder it is, or lies in. */
  async function findRomName (item: Trashed): Promise<string> {
    if (item.kind === 'rom') return item.file_name
    return (await selectHome(app.pg, item.rom_id))?.fs_name ?? item.file_name
  }

  /** What is back is looked at as a scan would, one scan for each folder. */
  async function scanRestored (items: readonly Trashed[], userId: number | null): Promise<void> {
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

  async function removeOne (item: Trashed): Promise<void> {
    const dir = await places.openLibrary(item)
    const gone = await transaction(app.pg, async (client) => {
      if (!await lockItem(client, item.id)) throw unknown(item.id)
      const taken = await places.takeOut(dir, item)
      await dropArtwork(await deleteItems(client, [item.id]))
      return taken
    })
    if (gone !== null) await rm(gone, { recursive: true, force: true })
    await places.removeEmptied(dir, item)
  }

  /** Does something to each item, and says of which it could not. */
  async function each (
    ids: readonly number[], items: ReadonlyMap<number, Trashed>, words: string, work: (item: Trashed) => Promise<void>
  ): Promise<{ done: Trashed[], result: BulkResult }> {
    const done: Trashed[] = []
    const failed = new Map<number, string>()
    for (const id of ids) {
      const item = items.get(id)
      if (item === undefined) {
        failed.set(id, unknown(id).message)
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

  async function removeAll (em: EntityManager, caller: AnyCaller): Promise<BulkResult> {
    const all: BulkResult = { successful_items: 0, failed_ids: [], errors: [] }
    for (let after = 0; ;) {
      const page = await selectAfter(em, caller, after, PAGE)
      const last = page.at(-1)
      if (last === undefined) return all
      after = last.id
      const { result } = await each(page.map(({ id }) => id), new Map(page.map((item) => [item.id, item])), 'delete', removeOne)
      all.successful_items += result.successful_items
      all.failed_ids.push(...result.failed_ids)
      all.errors.push(...result.errors)
    }
  }

  return {
    /**
     * Begins to take something out of libraries.
     *
     * @param isPermanent whether it shall be gone for good in the end, whatever the settings say
     */
    open: (isPermanent: boolean, userId: number | null) => openDisposal(app, !isPermanent && keepDays > 0, userId),

    /** What was deleted last comes first. */
    async list (em: EntityManager, caller: AnyCaller, page: { limit: number, offset: number }): Promise<TrashPage> {
      const { items, total } = await selectPage(em, caller, page)
      const problems = await findProblems(items)
      return { items: items.map((item) => toTrashView(item, keepDays, problems.get(item.id) ?? null)), total, ...page }
    },

    /**
     * Brings back what was deleted: files to their places, ROMs with their ids and all that was known of them. What
     * stands in the way stays as it is.
     */
    async restore (
      em: EntityManager, caller: AnyCaller, ids: readonly number[], userId: number | null
    ): Promise<BulkResult> {
      const wanted = [...new Set(ids)]
      // A file comes back after the ROM that it belongs to.
      const items = await selectItems(em, caller, wanted)
      const isFile = (id: number) => items.get(id)?.kind === 'file'
      const inOrder = wanted.toSorted((a, b) => Number(isFile(a)) - Number(isFile(b)))
      const { done, result } = await each(inOrder, items, 'restore', restoreOne)
      await scanRestored(done, userId)
      return result
    },

    /** Deletes something in the trash for good. @param ids null means all that the viewer sees */
    async empty (em: EntityManager, caller: AnyCaller, ids: readonly number[] | null): Promise<BulkResult> {
      if (ids === null) return await removeAll(em, caller)
      const wanted = [...new Set(ids)]
      return (await each(wanted, await selectItems(em, caller, wanted), 'delete', removeOne)).result
    },

    /** Forgets what was noted of items whose files are gone for good, with their artwork. */
    async forget (ids: readonly number[]): Promise<void> {
      if (ids.length > 0) await dropArtwork(await deleteItems(app.pg, ids))
    }
  }
}
export type Trash = ReturnType<typeof createTrash>
