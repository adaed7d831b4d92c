import type { FastifyInstance } from 'fastify'
import { databaseDate } from '../../core/database/clock.ts'
import { requireGrant } from '../../core/access/auth.ts'
import type { Context } from '../../core/access/context.ts'
import type { AnyCaller } from '../platforms/visibility.ts'
import { requireOwn, requireReadable } from './access.ts'
import { announceChange } from './announce-change.ts'
import type { Covers } from './covers.ts'
import { createCollectionEdits } from './edit-collections.ts'
import { getCollection } from './get-collection.ts'
import { lockCollection } from './lock-collection.ts'
import { toRomIds } from './rom-ids.ts'
import { deleteMembers, insertMembers, selectCollectionIds, selectCollections, selectExistingIds } from './rows.ts'
import type { CollectionView } from './schemas.ts'
import { toCollectionView } from './views.ts'

/** Creates the service of the collections that users make by hand. */
export function createCollections (app: FastifyInstance, covers: Covers) {
  const { remove, ...edits } = createCollectionEdits(app, covers)

  async function changeMembers (
    context: Context, id: number, romIds: readonly number[], work: typeof insertMembers
  ): Promise<CollectionView> {
    const { db, caller } = context
    const { is_public: isPublic } = await requireOwn(context, 'plain', id)
    let changed = 0
    await lockCollection(db, id, async (tx, collection) => {
      changed = await work({ db: tx, caller }, id, toRomIds(romIds))
      if (changed > 0) tx.em.assign(collection, { updated_at: databaseDate() })
    })
    if (changed > 0) await announceChange(app, { kind: 'plain', id, user_id: caller.id, change: 'changed' }, isPublic)
    return await getCollection(context, id, app.resources.marked)
  }

  return {
    get: async (context: Context<AnyCaller>, id: number): Promise<CollectionView> => {
      await requireReadable(context, 'plain', id)
      return await getCollection(context, id, app.resources.marked)
    },

    async list (context: Context<AnyCaller>, updatedAfter: string | undefined): Promise<CollectionView[]> {
      const rows = await selectCollections(context, { updated_after: updatedAfter })
      return rows.map((row) => toCollectionView(row, app.resources.marked))
    },

    listIds: (context: Context<AnyCaller>): Promise<number[]> => selectCollectionIds(context, 'plain'),

    ...edits,

    addRoms: (context: Context, id: number, romIds: readonly number[]): Promise<CollectionView> =>
      changeMembers(context, id, romIds, insertMembers),

    removeRoms: (context: Context, id: number, romIds: readonly number[]): Promise<CollectionView> =>
      changeMembers(context, id, romIds, deleteMembers),

    async delete (context: Context, id: number): Promise<void> {
      const { db, caller } = context
      const { is_public: wasPublic } = await requireOwn(context, 'plain', id)
      requireGrant(caller, 'collections', 'delete', true)
      await remove(db, id)
      await announceChange(app, { kind: 'plain', id, user_id: caller.id, change: 'deleted' }, wasPublic)
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
