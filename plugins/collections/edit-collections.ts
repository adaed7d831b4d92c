import type { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import type { Context } from '../../core/access/context.ts'
import { databaseDate } from '../../core/database/clock.ts'
import type { Db } from '../../core/database/db.ts'
import { deleteRow } from '../../core/database/delete-row.ts'
import { inTransaction } from '../../core/database/transaction.ts'
import { createAloneQueue } from '../../core/jobs/alone-queue.ts'
import { User } from '../users/entities.ts'
import { checkName, requireOwn, unknownCollection, withName } from './access.ts'
import { announceChange } from './announce-change.ts'
import type { Covers, StagedCover } from './covers.ts'
import { Collection } from './entities.ts'
import { getCollection } from './get-collection.ts'
import { lockCollection } from './lock-collection.ts'
import { checkCollections } from './quota.ts'
import { readRomIds } from './rom-ids.ts'
import { insertMembers, restrictMembers } from './rows.ts'
import type { CollectionForm, CollectionView } from './schemas.ts'

/** The parameters that come with a form, and the cover from the form, if any. */
interface FormOptions { is_public?: boolean, cover: StagedCover | null }
interface CreateOptions extends FormOptions { is_favorite?: boolean }
interface UpdateOptions extends FormOptions { remove_cover: boolean, keep_roms: boolean }

/** The most covers of one collection that wait for a running one, in each web worker. */
const WAITING_MAX = 20

/** Downloads the picture of an address, unless it is the collection's current cover. */
async function fetchCover (
  covers: Covers, db: Db, { id, url }: { id: number, url: string | undefined }
): Promise<StagedCover | null> {
  if (url === undefined || url === '') return null
  const current = await db.em.findOne(Collection, { id }, { refresh: true })
  if (current?.url_cover === url && await covers.isPresent(current.path_cover_large ?? null)) return null
  return await covers.fetch(url)
}

/** Creates the functions that store the forms of collections and their covers. */
export function createCollectionEdits (app: FastifyInstance, covers: Covers) {
  const inOrder = createAloneQueue(app.workers, WAITING_MAX, 'covers')

  /** Changes files of a cover and their row together. A second change meanwhile would delete the files of the first. */
  const runAlone = (id: number, work: () => Promise<void>): Promise<void> =>
    inOrder(`cover of collection ${id}`, work)

  /** @throws ApiError NOT_FOUND if the collection was deleted meanwhile; then no file of the cover remains */
  const setCover = (db: Db, id: number, cover: StagedCover): Promise<void> => runAlone(id, async () => {
    if (await db.em.count(Collection, { id }) === 0) throw unknownCollection(id)
    const paths = await cover.publish(id)
    await lockCollection(db, id, async (tx, collection) => { tx.em.assign(collection, paths) })
  }).catch(async (err: unknown) => {
    await cover.discard()
    throw err
  })

  /** Deletes the files of a removed cover, unless another one came meanwhile. */
  const deleteCover = (db: Db, id: number): Promise<void> => runAlone(id, async () => {
    const current = await db.em.findOne(Collection, { id }, { refresh: true })
    if ((current?.path_cover_large ?? null) === null) await covers.delete(id)
  })

  return {
    /** Sets the cover of a collection to a picture. @throws ApiError BAD_REQUEST for a file that is no picture */
    async setPicture (db: Db, id: number, name: string, content: Readable): Promise<void> {
      await setCover(db, id, await covers.upload(name, content))
    },

    /** Deletes a collection with its pictures. */
    remove: (db: Db, id: number): Promise<void> => runAlone(id, async () => {
      await deleteRow(db, Collection, id, `Collection ${id}`)
      await covers.delete(id)
    }),

    async create (
      context: Context, form: CollectionForm, { cover: uploaded, ...switches }: CreateOptions
    ): Promise<CollectionView> {
      const { db, caller } = context
      const { description = '', url_cover: url = '' } = form
      const name = checkName(form.name)
      const cover = uploaded ?? (url === '' ? null : await covers.fetch(url))
      const { id, is_public: isPublic } = await withName(name, () => inTransaction(db, async (tx) => {
        const urlCover = uploaded === null && url !== '' ? url : null
        const added = tx.em.create(Collection, {
          user: tx.em.getReference(User, caller.id), name, description, url_cover: urlCover, ...switches
        })
        await tx.em.flush()
        await checkCollections(tx, caller.id, 'plain')
        return added
      })).catch(async (err: unknown) => {
        await cover?.discard()
        throw err
      })
      if (cover !== null) await setCover(db, id, cover)
      await announceChange(app, { kind: 'plain', id, user_id: caller.id, change: 'added' }, isPublic)
      return await getCollection(context, id, app.resources.marked)
    },

    /** @throws ApiError NOT_FOUND, FORBIDDEN, INVALID, BAD_REQUEST for an invalid cover, CONFLICT for the name */
    async update (
      context: Context, id: number, form: CollectionForm,
      { is_public: isPublic, remove_cover: removesCover, keep_roms: keepsRoms, cover: uploaded }: UpdateOptions
    ): Promise<CollectionView> {
      const { db, caller } = context
      const { is_public: wasPublic } = await requireOwn(context, 'plain', id)
      const { name, description, url_cover: url } = form
      const romIds = keepsRoms ? null : readRomIds(form.rom_ids)
      if (name !== undefined) checkName(name)
      const cover = removesCover ? null : uploaded ?? await fetchCover(covers, db, { id, url })
      const urlCover = removesCover || uploaded !== null ? '' : url
      await withName(name, () => lockCollection(db, id, async (tx, collection) => {
        tx.em.assign(collection, {
          ...(name === undefined ? {} : { name }),
          ...(description === undefined ? {} : { description }),
          ...(isPublic === undefined ? {} : { is_public: isPublic }),
          ...(urlCover === undefined ? {} : { url_cover: urlCover === '' ? null : urlCover }),
          ...(removesCover ? { path_cover_large: null, path_cover_small: null } : {}),
          updated_at: databaseDate()
        })
        if (description !== undefined) {
          await tx.em.flush()
          await checkCollections(tx, caller.id, 'plain')
        }
        if (romIds === null) return
        await restrictMembers({ db: tx, caller }, id, romIds)
        await insertMembers({ db: tx, caller }, id, romIds)
      })).catch(async (err: unknown) => {
        await cover?.discard()
        throw err
      })
      if (removesCover) await deleteCover(db, id)
      if (cover !== null) await setCover(db, id, cover)
      await announceChange(app, { kind: 'plain', id, user_id: caller.id, change: 'changed' }, wasPublic || isPublic === true)
      return await getCollection(context, id, app.resources.marked)
    }
  }
}
