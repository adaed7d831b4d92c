import type { Context } from '../../../core/access/context.ts'
import { selectVersions } from '../../library-versions/version-rows.ts'
import type { AnyCaller } from '../../platforms/visibility.ts'
import type { JsonPieces } from '../../../core/web/cached-text.ts'
import type { RomExtensions } from '../extensions.ts'
import type { Criteria } from '../filters/criteria.ts'
import type { ScopeQuery } from '../filters/list-query.ts'
import { type RomBuilder, toSimple } from '../items/rom-builder.ts'
import { pickId } from '../rows.ts'
import type { BuiltSimpleRom, RomFilters } from '../schemas.ts'
import type { ListCache } from './list-cache.ts'
import type { ListIndex } from './list-index.ts'
import { readOrder } from './list-order.ts'
import { findFilterScope, findScopeCondition, readFilter } from './query-conditions.ts'

const NO_SCOPE: ScopeQuery = { platform_ids: [], library_ids: [] }

interface RomListParts { extensions: RomExtensions, builder: RomBuilder, cache: ListCache }

/** Creates the part of the ROMs service that lists ids and filter values of whole parts of the library. */
export function createRomLists ({ extensions, builder, cache }: RomListParts) {
  /** Returns all ROMs of a part of the library by name. */
  async function indexScope (context: Context<AnyCaller>, query: ScopeQuery): Promise<ListIndex> {
    const { db, caller } = context
    const versions = await selectVersions(db, caller?.id ?? null)
    const condition = await findScopeCondition(context, extensions, query, '')
    return await cache.index({ caller, versions, query, condition }, readOrder('', '', extensions.providers))
  }

  /** Reads the ids of the whole list only if they are a small part of the library. */
  async function pickRandomId (context: Context<AnyCaller>, query: ScopeQuery): Promise<number | undefined> {
    const condition = await findScopeCondition(context, extensions, query, '')
    const { db, caller } = context
    const picked = await pickId(db, caller?.id ?? null, condition(caller, true))
    if (picked !== null) return picked
    const index = await indexScope(context, query)
    return index.length === 0 ? undefined : index.idAt(Math.floor(Math.random() * index.length))
  }

  return {
    /** Lists the visible ROMs that the caller has not hidden, by name. */
    listIds: async (context: Context<AnyCaller>): Promise<JsonPieces> => (await indexScope(context, NO_SCOPE)).texts,

    /** Lists the ids of the ROMs in a part of the library, by name. */
    listScope: async (context: Context<AnyCaller>, query: ScopeQuery): Promise<number[]> =>
      [...(await indexScope(context, query)).toIds()],

    /** Lists the ids of all ROMs that a stored filter finds for a caller, in the order of the filter. */
    async listFiltered ({ db, caller }: Context<AnyCaller>, criteria: Criteria): Promise<Int32Array> {
      const versions = await selectVersions(db, caller?.id ?? null)
      const { order, ...filter } = readFilter(extensions, criteria)
      return (await cache.index({ caller, versions, ...filter }, order)).toIds()
    },

    async pickRandom (context: Context<AnyCaller>, query: ScopeQuery): Promise<BuiltSimpleRom | null> {
      const id = await pickRandomId(context, query)
      const [found] = id === undefined ? [] : await builder.buildByIds(context, [id], false)
      return found === undefined ? null : toSimple(found.rom)
    },

    async listFilterValues (context: Context<AnyCaller>): Promise<RomFilters> {
      const versions = await selectVersions(context.db, context.caller?.id ?? null)
      return await cache.filterValues(await findFilterScope(context, extensions, versions, { ...NO_SCOPE, search_term: '' }))
    }
  }
}
