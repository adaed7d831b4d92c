import { LockMode } from '@mikro-orm/core'
import type { EntityManager } from '@mikro-orm/postgresql'
import type { FastifyInstance } from 'fastify'
import { type Caller, requireGrant } from '../../core/access/auth.ts'
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

interface Switches { is_public?: boolean, is_favorite?: boolean }

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

  async function get (em: EntityManager, caller: AnyCaller, id: number): Promise<CollectionView> {
    const [row] = await selectCollections(em, caller, { id })
    if (row === undefined) throw unknownCollection(id)
    return toCollectionView(row, app.resources.marked)
  }

  /** Runs work on a collection while its row is locked. */
  async function change (
    em: EntityManager, id: number, work: (tx: EntityManager, collection: Collection) => Promise<void>
  ): Promise<void> {
    await inTransaction(em, async (tx) => {
      const collection = await tx.findOne(Collection, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true })
      if (collection === null) throw unknownCollection(id)
      await work(tx, collection)
      await tx.flush()
    })
  }

  async function setCover (em: EntityManager, id: number, cover: StagedCover): Promise<void> {
    const paths = await cover.publish(id)
    await change(em, id, async (tx, collection) => { tx.assign(collection, paths) })
  }

  /** Downloads the picture of an address, unless it is the collection's current cover. */
  async function fetchCover (em: EntityManager, id: number, url: string | undefined): Promise<StagedCover | null> {
    if (url === undefined || url === '') return null
    const known = await em.findOne(Collection, { id }, { refresh: true })
    if (known?.url_cover === url && await covers.isThere(known.path_cover_large ?? null)) return null
    return await covers.fetch(url)
  }

  async function changeMembers (
    em: EntityManager, caller: Caller, id: number, romIds: readonly number[], work: typeof insertMembers
  ): Promise<CollectionView> {
    const { is_public: isPublic } = await requireOwn(em, caller, 'plain', id)
    let changed = 0
    await change(em, id, async (tx, collection) => {
      changed = await work(tx, caller, id, toRomIds(romIds))
      if (changed > 0) tx.assign(collection, { updated_at: new Date() })
    })
    if (changed > 0) announce(id, caller, 'changed', isPublic)
    return await get(em, caller, id)
  }

  return {
    get: async (em: EntityManager, caller: AnyCaller, id: number): Promise<CollectionView> => {
      await requireReadable(em, caller, 'plain', id)
      return await get(em, caller, id)
    },

    async list (em: EntityManager, caller: AnyCaller, updatedAfter: string | undefined): Promise<CollectionView[]> {
      const rows = await selectCollections(em, caller, { updated_after: updatedAfter })
      return rows.map((row) => toCollectionView(row, app.resources.marked))
    },

    listIds: (em: EntityManager, caller: AnyCaller): Promise<number[]> => selectCollectionIds(em, caller, 'plain'),

    /** @param uploaded the cover from the form, if any */
    async create (
      em: EntityManager, caller: Caller, form: CollectionForm, switches: Switches, uploaded: StagedCover | null
    ): Promise<CollectionView> {
      const { description = '', url_cover: url = '' } = form
      const name = checkName(form.name)
      const cover = uploaded ?? (url === '' ? null : await covers.fetch(url))
      const collection = await withName(name, () => inTransaction(em, async (tx) => {
        const urlCover = uploaded === null && url !== '' ? url : null
        const added = tx.create(Collection, {
          user: tx.getReference(User, caller.id), name, description, url_cover: urlCover, ...switches
        })
        await tx.flush()
        return added
      })).catch(async (err: unknown) => {
        await cover?.discard()
        throw err
      })
      if (cover !== null) await setCover(em, collection.id, cover)
      announce(collection.id, caller, 'added', collection.is_public)
      return await get(em, caller, collection.id)
    },

    /** @throws ApiError NOT_FOUND, FORBIDDEN, INVALID, BAD_REQUEST for an invalid cover, CONFLICT for the name */
    async update (
      em: EntityManager, caller: Caller, id: number, form: CollectionForm,
      { is_public: isPublic, remove_cover: removesCover }: { is_public?: boolean, remove_cover: boolean },
      uploaded: StagedCover | null
    ): Promise<CollectionView> {
      const { is_public: wasPublic } = await requireOwn(em, caller, 'plain', id)
      const { name, description, url_cover: url } = form
      const romIds = readRomIds(form.rom_ids)
      if (name !== undefined) checkName(name)
      const cover = removesCover ? null : uploaded ?? await fetchCover(em, id, url)
      const urlCover = removesCover || uploaded !== null ? '' : url
      await withName(name, () => change(em, id, async (tx, collection) => {
        tx.assign(collection, {
          ...(name === undefined ? {} : { name }),
          ...(description === undefined ? {} : { description }),
          ...(isPublic === undefined ? {} : { is_public: isPublic }),
          ...(urlCover === undefined ? {} : { url_cover: urlCover === '' ? null : urlCover }),
          ...(removesCover ? { path_cover_large: null, path_cover_small: null } : {}),
          updated_at: new Date()
        })
        await restrictMembers(tx, caller, id, romIds)
        await insertMembers(tx, caller, id, romIds)
      })).catch(async (err: unknown) => {
        await cover?.discard()
        throw err
      })
      if (removesCover) await covers.drop(id)
      if (cover !== null) await setCover(em, id, cover)
      announce(id, caller, 'changed', wasPublic || isPublic === true)
      return await get(em, caller, id)
    },

    addRoms: (em: EntityManager, caller: Caller, id: number, romIds: readonly number[]): Promise<CollectionView> =>
      changeMembers(em, caller, id, romIds, insertMembers),

    removeRoms: (em: EntityManager, caller: Caller, id: number, romIds: readonly number[]): Promise<CollectionView> =>
      changeMembers(em, caller, id, romIds, deleteMembers),

    async delete (em: EntityManager, caller: Caller, id: number): Promise<void> {
      const { is_public: wasPublic } = await requireOwn(em, caller, 'plain', id)
      requireGrant(caller, 'collections', 'delete', true)
      await em.nativeDelete(Collection, { id })
      await covers.drop(id)
      announce(id, caller, 'deleted', wasPublic)
    },

    /** Deletes the pictures of collections that were deleted with their owners, and files of unfinished uploads. */
    async clean (): Promise<void> {
      // Read folders before rows, because the row of a folder created meanwhile is then found.
      const ids = await covers.listFolders()
      const existing = await selectExistingIds(app.orm.em.fork(), ids)
      for (const id of ids.filter((one) => !existing.has(one))) await covers.drop(id)
      await covers.sweep()
    }
  }
}
export type Collections = ReturnType<typeof createCollections>
