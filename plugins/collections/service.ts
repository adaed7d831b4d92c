import { LockMode } from '@mikro-orm/core'
import type { FastifyInstance } from 'fastify'
import { type Caller, requireGrant } from '../../core/access/auth.ts'
import type { Context } from '../../core/access/context.ts'
import type { Db } from '../../core/database/db.ts'
import { inTransaction } from '../../core/database/transaction.ts'
import { ApiError } from '../../core/errors.ts'
import { ID_MAX } from '../../core/typebox.ts'
import type { AnyCaller } from '../platforms/visibility.ts'
import { User } from '../users/entities.ts'
import { announceChange } from './announce-change.ts'
import { checkName, requireOwn, requireReadable, unknownCollection, withName } from './access.ts'
import type { Covers, StagedCover } from './covers.ts'
import { Collection } from './entities.ts'
import type { CollectionChange } from './events.ts'
import { deleteMembers, insertMembers, restrictMembers, selectCollectionIds, selectCollections, selectExistingIds } from './rows.ts'
import type { CollectionForm, CollectionView } from './schemas.ts'
import { toCollectionView } from './views.ts'

interface CollectionSwitches { is_public?: boolean, is_favorite?: boolean }

/** Returns the ids within the range of ROM ids. */
const toRomIds = (ids: readonly number[]) => ids.filter((id) => id > 0 && id <= ID_MAX)

/** @throws ApiError INVALID, with the text that apps show */
function readRomIds (given: unknown): number[] {
  const refused = () => new ApiError('INVALID', 'Invalid list for rom_ids field in update collection')
  if (typeof given !== 'string') throw refused()
  let ids: unknown
  try {
    ids = JSON.parse(given)
  } catch {
    throw refused()
  }
  if (!Array.isArray(ids) || !ids.every((id): id is number => Number.isInteger(id))) throw refused()
  return toRomIds(ids)
}

/** Creates the service of the collections that users make by hand. */
export function createCollections (app: FastifyInstance, covers: Covers) {
  function announce (id: number, { id: userId }: Caller, change: CollectionChange['change'], isPublic: boolean): void {
    announceChange(app, { kind: 'plain', id, user_id: userId, change }, isPublic)
  }

  async function get (context: Context<AnyCaller>, id: number): Promise<CollectionView> {
    const [row] = await selectCollections(context, { id })
    if (row === undefined) throw unknownCollection(id)
    return toCollectionView(row, app.resources.marked)
  }

  /** Runs work on a collection while its row is locked. */
  async function change (
    db: Db, id: number, work: (tx: Db, collection: Collection) => Promise<void>
  ): Promise<void> {
    await inTransaction(db, async (tx) => {
      const collection = await tx.em.findOne(Collection, { id },
        { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true })
      if (collection === null) throw unknownCollection(id)
      await work(tx, collection)
      await tx.em.flush()
    })
  }

  async function setCover (db: Db, id: number, cover: StagedCover): Promise<void> {
    const paths = await cover.publish(id)
    await change(db, id, async (tx, collection) => { tx.em.assign(collection, paths) })
  }

  /** Downloads the picture of an address, unless it is the collection's current cover. */
  async function fetchCover (db: Db, id: number, url: string | undefined): Promise<StagedCover | null> {
    if (url === undefined || url === '') return null
    const current = await db.em.findOne(Collection, { id }, { refresh: true })
    if (current?.url_cover === url && await covers.isPresent(current.path_cover_large ?? null)) return null
    return await covers.fetch(url)
  }

  async function changeMembers (
    context: Context, id: number, romIds: readonly number[], work: typeof insertMembers
  ): Promise<CollectionView> {
    const { db, caller } = context
    const { is_public: isPublic } = await requireOwn(context, 'plain', id)
    let changed = 0
    await change(db, id, async (tx, collection) => {
      changed = await work({ db: tx, caller }, id, toRomIds(romIds))
      if (changed > 0) tx.em.assign(collection, { updated_at: new Date() })
    })
    if (changed > 0) announce(id, caller, 'changed', isPublic)
    return await get(context, id)
  }

  return {
    get: async (context: Context<AnyCaller>, id: number): Promise<CollectionView> => {
      await requireReadable(context, 'plain', id)
      return await get(context, id)
    },

    async list (context: Context<AnyCaller>, updatedAfter: string | undefined): Promise<CollectionView[]> {
      const rows = await selectCollections(context, { updated_after: updatedAfter })
      return rows.map((row) => toCollectionView(row, app.resources.marked))
    },

    listIds: (context: Context<AnyCaller>): Promise<number[]> => selectCollectionIds(context, 'plain'),

    /** @param uploaded the cover from the form, if any */
    async create (
      context: Context, form: CollectionForm, switches: CollectionSwitches, uploaded: StagedCover | null
    ): Promise<CollectionView> {
      const { db, caller } = context
      const { description = '', url_cover: url = '' } = form
      const name = checkName(form.name)
      const cover = uploaded ?? (url === '' ? null : await covers.fetch(url))
      const collection = await withName(name, () => inTransaction(db, async (tx) => {
        const urlCover = uploaded === null && url !== '' ? url : null
        const added = tx.em.create(Collection, {
          user: tx.em.getReference(User, caller.id), name, description, url_cover: urlCover, ...switches
        })
        await tx.em.flush()
        return added
      })).catch(async (err: unknown) => {
        await cover?.discard()
        throw err
      })
      if (cover !== null) await setCover(db, collection.id, cover)
      announce(collection.id, caller, 'added', collection.is_public)
      return await get(context, collection.id)
    },

    /** @throws ApiError NOT_FOUND, FORBIDDEN, INVALID, BAD_REQUEST for an invalid cover, CONFLICT for the name */
    async update (
      context: Context, id: number, form: CollectionForm,
      { is_public: isPublic, remove_cover: removesCover }: { is_public?: boolean, remove_cover: boolean },
      uploaded: StagedCover | null
    ): Promise<CollectionView> {
      const { db, caller } = context
      const { is_public: wasPublic } = await requireOwn(context, 'plain', id)
      const { name, description, url_cover: url } = form
      const romIds = readRomIds(form.rom_ids)
      if (name !== undefined) checkName(name)
      const cover = removesCover ? null : uploaded ?? await fetchCover(db, id, url)
      const urlCover = removesCover || uploaded !== null ? '' : url
      await withName(name, () => change(db, id, async (tx, collection) => {
        tx.em.assign(collection, {
          ...(name === undefined ? {} : { name }),
          ...(description === undefined ? {} : { description }),
          ...(isPublic === undefined ? {} : { is_public: isPublic }),
          ...(urlCover === undefined ? {} : { url_cover: urlCover === '' ? null : urlCover }),
          ...(removesCover ? { path_cover_large: null, path_cover_small: null } : {}),
          updated_at: new Date()
        })
        await restrictMembers({ db: tx, caller }, id, romIds)
        await insertMembers({ db: tx, caller }, id, romIds)
      })).catch(async (err: unknown) => {
        await cover?.discard()
        throw err
      })
      if (removesCover) await covers.delete(id)
      if (cover !== null) await setCover(db, id, cover)
      announce(id, caller, 'changed', wasPublic || isPublic === true)
      return await get(context, id)
    },

    addRoms: (context: Context, id: number, romIds: readonly number[]): Promise<CollectionView> =>
      changeMembers(context, id, romIds, insertMembers),

    removeRoms: (context: Context, id: number, romIds: readonly number[]): Promise<CollectionView> =>
      changeMembers(context, id, romIds, deleteMembers),

    async delete (context: Context, id: number): Promise<void> {
      const { db, caller } = context
      const { is_public: wasPublic } = await requireOwn(context, 'plain', id)
      requireGrant(caller, 'collections', 'delete', true)
      await db.em.nativeDelete(Collection, { id })
      await covers.delete(id)
      announce(id, caller, 'deleted', wasPublic)
    },

    /** Deletes the pictures of collections that were deleted with their owners, and files of unfinished uploads. */
    async clean (): Promise<void> {
      // Read folders before rows, because the row of a folder created meanwhile is then found.
      const ids = await covers.listFolders()
      const existing = await selectExistingIds(app.db, ids)
      for (const id of ids.filter((one) => !existing.has(one))) await covers.delete(id)
      await covers.sweep()
    }
  }
}
export type Collections = ReturnType<typeof createCollections>
