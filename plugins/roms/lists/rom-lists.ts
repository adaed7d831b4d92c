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
import type { CachedList } from './cached-list.ts'
import type { FilterValueCache } from './filter-value-cache.ts'
import type { ListCache } from './list-cache.ts'
import type { ListIndex } from './list-index.ts'
import { ORDER_BY_NAME } from './list-order.ts'
import { prepareConditions, queryOfScope, readFilter } from './query-conditions.ts'

const NO_SCOPE: ScopeQuery = { platform_ids: [], library_ids: [] }

interface RomListParts {
  extensions: RomExtensions
  builder: RomBuilder
  cache: ListCache
  filterValues: FilterValueCache
}

/** Creates the part of the ROMs service that lists ids and filter values of whole parts of the library. */
export function createRomLists ({ extensions, builder, cache, filterValues }: RomListParts) {
  async function prepareScope (context: Context<AnyCaller>, scope: ScopeQuery) {
    const query = queryOfScope(scope, '')
    return { query, conditions: await prepareConditions(context, extensions, { query, order: ORDER_BY_NAME }) }
  }

  async function describeScope (context: Context<AnyCaller>, scope: ScopeQuery): Promise<CachedList> {
    const { db, caller } = context
    const { query, conditions } = await prepareScope(context, scope)
    return conditions.describe(query, { caller, versions: await selectVersions(db, caller?.id ?? null) })
  }

  /** Returns all ROMs of a part of the library by name. */
  const indexScope = async (context: Context<AnyCaller>, scope: ScopeQuery): Promise<ListIndex> =>
    await cache.index(await describeScope(context, scope), ORDER_BY_NAME)

  /** Reads the ids of the whole list only if they are a small part of the library. */
  async function pickRandomId (context: Context<AnyCaller>, scope: ScopeQuery): Promise<number | undefined> {
    const { db, caller } = context
    const { query, conditions } = await prepareScope(context, scope)
    const picked = await pickId(db, caller?.id ?? null, conditions.find(query)(caller, true))
    if (picked !== null) return picked
    const index = await indexScope(context, scope)
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

    listFilterValues: async (context: Context<AnyCaller>): Promise<RomFilters> =>
      await filterValues.get(await describeScope(context, NO_SCOPE))
  }
}
