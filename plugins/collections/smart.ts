import type { FastifyInstance } from 'fastify'
import { databaseDate } from '../../core/database/clock.ts'
import { deleteRow } from '../../core/database/delete-row.ts'
import { inTransaction } from '../../core/database/transaction.ts'
import { requireGrant } from '../../core/access/auth.ts'
import type { Context } from '../../core/access/context.ts'
import type { AnyCaller } from '../platforms/visibility.ts'
import { User } from '../users/entities.ts'
import { checkName, requireOwn, requireReadable, unknownCollection, withName } from './access.ts'
import { announceChange } from './announce-change.ts'
import { readCriteriaText } from './criteria-text.ts'
import { SmartCollection } from './entities.ts'
import { checkCollections } from './quota.ts'
import { type SmartRow, selectCollectionIds, selectCovers, selectSmartCollections, selectVisibleIds } from './rows.ts'
import type { SmartCollectionForm, SmartCollectionView } from './schemas.ts'
import { toSmartView } from './views.ts'
import { COVERS_MAX } from './virtual-rows.ts'

/** Number of first members whose covers are considered. */
const COVER_CANDIDATES = 500

/** Returns the members of each collection that a caller sees. A filter of another user finds what that user sees. */
async function selectMembers (
  { permissions, roms }: Pick<FastifyInstance, 'permissions' | 'roms'>, context: Context<AnyCaller>, rows: readonly SmartRow[]
): Promise<Map<number, number[]>> {
  const { db, caller } = context
  const owners = await permissions.listCallers(rows.map((row) => row.user_id))
  const members = new Map<number, number[]>()
  // One after the other, because each may read the whole library.
  for (const { id, user_id: userId, filter_criteria: criteria } of rows) {
    const found = [...await roms.listFiltered({ db, caller: owners.get(userId) ?? null }, criteria)]
    members.set(id, userId === caller?.id ? found : await selectVisibleIds(context, found))
  }
  return members
}

/**
 * Creates the service of collections that are stored filters. Their members are what `GET /api/roms` would list for
 * their owners. Members are computed on request, and cached with other lists until the library changes.
 */
export function createSmartCollections (app: FastifyInstance) {
  async function toViews (
    context: Context<AnyCaller>, rows: readonly SmartRow[]
  ): Promise<SmartCollectionView[]> {
    const members = await selectMembers(app, context, rows)
    const candidates = [...members.values()].flatMap((ids) => ids.slice(0, COVER_CANDIDATES))
    const covers = await selectCovers(context, [...new Set(candidates)])
    return rows.map((row) => {
      const ids = members.get(row.id) ?? []
      const found = ids.slice(0, COVER_CANDIDATES).flatMap((id) => covers.get(id) ?? [])
      return toSmartView(row, ids, found.slice(0, COVERS_MAX), app.resources.marked)
    })
  }

  async function get (context: Context<AnyCaller>, id: number): Promise<SmartCollectionView> {
    const [view] = await toViews(context, await selectSmartCollections(context, { id }))
    if (view === undefined) throw unknownCollection(id)
    return view
  }

  return {
    async get (context: Context<AnyCaller>, id: number): Promise<SmartCollectionView> {
      await requireReadable(context, 'smart', id)
      return await get(context, id)
    },

    async list (
      context: Context<AnyCaller>, updatedAfter: string | undefined
    ): Promise<SmartCollectionView[]> {
      return await toViews(context, await selectSmartCollections(context, { updated_after: updatedAfter }))
    },

    listIds: (context: Context<AnyCaller>): Promise<number[]> => selectCollectionIds(context, 'smart'),

    /** @throws ApiError INVALID, BAD_REQUEST for invalid criteria, CONFLICT for the name and beyond the quota */
    async create (
      context: Context, form: SmartCollectionForm, isPublic: boolean
    ): Promise<SmartCollectionView> {
      const { db, caller } = context
      const name = checkName(form.name)
      const criteria = readCriteriaText(form.filter_criteria ?? '{}')
      const { id } = await withName(name, () => inTransaction(db, async (tx) => {
        const collection = tx.em.create(SmartCollection, {
          user: tx.em.getReference(User, caller.id), name, description: form.description ?? '', is_public: isPublic, filter_criteria: criteria
        })
        await tx.em.flush()
        await checkCollections(tx, caller.id, 'smart')
        return collection
      }))
      await announceChange(app, { kind: 'smart', id, user_id: caller.id, change: 'added' }, isPublic)
      return await get(context, id)
    },

    async update (
      context: Context, id: number, form: SmartCollectionForm, isPublic: boolean | undefined
    ): Promise<SmartCollectionView> {
      const { db, caller } = context
      const { is_public: wasPublic } = await requireOwn(context, 'smart', id)
      const { name, description, filter_criteria: text } = form
      const changes = {
        ...(name === undefined ? {} : { name: checkName(name) }),
        ...(description === undefined ? {} : { description }),
        ...(text === undefined ? {} : { filter_criteria: readCriteriaText(text) }),
        ...(isPublic === undefined ? {} : { is_public: isPublic }),
        updated_at: databaseDate()
      }
      await withName(name, () => inTransaction(db, async (tx) => {
        await tx.em.nativeUpdate(SmartCollection, { id }, changes)
        if (description !== undefined || text !== undefined) await checkCollections(tx, caller.id, 'smart')
      }))
      await announceChange(app, { kind: 'smart', id, user_id: caller.id, change: 'changed' }, wasPublic || isPublic === true)
      return await get(context, id)
    },

    async delete (context: Context, id: number): Promise<void> {
      const { db, caller } = context
      const { is_public: wasPublic } = await requireOwn(context, 'smart', id)
      requireGrant(caller, 'collections', 'delete', true)
      await deleteRow(db, SmartCollection, id, `Smart collection ${id}`)
      await announceChange(app, { kind: 'smart', id, user_id: caller.id, change: 'deleted' }, wasPublic)
    }
  }
}
export type SmartCollections = ReturnType<typeof createSmartCollections>
