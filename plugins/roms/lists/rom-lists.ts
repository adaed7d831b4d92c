import type { FastifyInstance } from 'fastify'
import type { Context } from '../../../core/access/context.ts'
import type { Config } from '../../../core/config/config.ts'
import { formatDate } from '../../../core/typebox.ts'
import { type VersionSnapshot, selectVersions } from '../../library/version-rows.ts'
import type { AnyCaller } from '../../platforms/visibility.ts'
import type { Addresses } from '../../resources/addresses.ts'
import { CachedText } from '../cached-text.ts'
import type { RomExtensions } from '../extensions.ts'
import type { Criteria } from '../filters/criteria.ts'
import { noFilterValues } from '../filters/filter-value-rows.ts'
import { type ListRomsQuery, type ScopeQuery, pickScope, withOldNames } from '../filters/list-query.ts'
import { type LoadedRom, type RomBuilder, toSimple } from '../rom-builder.ts'
import { selectIds } from '../rows.ts'
import type { BuiltSimpleRom, RomFilters, RomPage } from '../schemas.ts'
import type { UserFiles } from '../user-files.ts'
import { type CachedList, createListCache, needsIndex } from './list-cache.ts'
import { type Order, readOrder } from './list-order.ts'
import type { PageIndex } from './page-index-rows.ts'
import { findScopeCondition, findSmartCondition, listCondition, readFilter } from './query-conditions.ts'

const NO_SCOPE: ScopeQuery = { platform_ids: [], library_ids: [] }
const NO_INDEX: PageIndex = { ids: new Int32Array(), text: new CachedText('[]'), characters: {} }

interface RomListParts { config: Config, extensions: RomExtensions, builder: RomBuilder }

/** Returns the picture of each played ROM: that of the caller's newest save, else the game's own. */
async function selectPictures (
  context: Context<AnyCaller>, found: readonly LoadedRom[], userFiles: UserFiles, addresses: Addresses
): Promise<Map<number, string | null>> {
  const thumbnails = await userFiles.selectPictures(context, found.map(({ row }) => row.id))
  return new Map(found.map(({ row, shared: { stillPath } }) => {
    const address = stillPath === null ? null : addresses.locate(stillPath, formatDate(row.updated_at))
    return [row.id, thumbnails.get(row.id) ?? address]
  }))
}

/** Creates the part of the ROMs service that lists them: pages, ids, and filter values. */
export function createRomLists (app: FastifyInstance, { config, extensions, builder }: RomListParts) {
  const { providers, userFiles } = extensions
  const lists = createListCache(app.longReads)

  /**
   * Returns the ids of a page, and the index of the whole list if the query needs it.
   *
   * @param versions null if the whole list is not needed
   */
  async function readPage (
    context: Context<AnyCaller>, versions: VersionSnapshot | null, query: ListRomsQuery, order: Order
  ): Promise<{ ids: readonly number[], index: PageIndex }> {
    const { db, caller } = context
    const { limit, offset } = query
    const by = query.group_by_meta_id ? config.scan.priority.region : []
    const smart = await findSmartCondition(context, extensions, query)
    const condition = listCondition(caller, extensions, query, { order, regionPriority: by, smart })
    if (versions === null) {
      const ids = await selectIds(db, caller?.id ?? null, condition, { by: order.by, limit, offset })
      return { ids, index: NO_INDEX }
    }
    const index = await lists.index({ caller, versions, query, condition, by }, order)
    return { ids: [...index.ids.subarray(offset, offset + limit)], index }
  }

  /** Returns all ROMs of a part of the library by name. */
  async function indexScope (context: Context<AnyCaller>, query: ScopeQuery): Promise<PageIndex> {
    const { db, caller } = context
    const versions = await selectVersions(db, caller?.id ?? null)
    const condition = await findScopeCondition(context, extensions, query, '')
    return await lists.index({ caller, versions, query, condition }, readOrder('', '', providers))
  }

  /** Returns the part of the library whose filter values are listed. */
  async function scopeOf (
    context: Context<AnyCaller>, versions: VersionSnapshot, query: ScopeQuery, term: string
  ): Promise<CachedList> {
    const scope = { ...pickScope(query), search_term: term }
    const condition = await findScopeCondition(context, extensions, query, term)
    return { caller: context.caller, versions, query: scope, condition }
  }

  /** Builds the ROMs of a page. A list of played ROMs shows the picture of each. */
  async function buildItems (
    context: Context<AnyCaller>, ids: readonly number[], query: ListRomsQuery
  ): Promise<BuiltSimpleRom[]> {
    const found = await builder.buildByIds(context, ids, query.with_files)
    const pictures = query.last_played === true
      ? await selectPictures(context, found, userFiles, app.resources.marked)
      : null
    return found.map(({ row, rom: { shared, more } }) =>
      ({ shared, more: { ...more, screenshot_path: pictures?.get(row.id) ?? null } }))
  }

  async function list (context: Context<AnyCaller>, input: ListRomsQuery): Promise<RomPage> {
    const query = withOldNames(input)
    const order = readOrder(query.order_by, query.order_dir, providers)
    const needs = { index: needsIndex(query, order), values: query.with_filter_values }
    const versions = needs.index || needs.values ? await selectVersions(context.db, context.caller?.id ?? null) : null
    const [{ ids, index }, filterValues] = await Promise.all([
      readPage(context, needs.index ? versions : null, query, order),
      versions === null || !needs.values
        ? noFilterValues()
        : scopeOf(context, versions, query, query.search_term).then(lists.filterValuesSoon)
    ])
    return {
      items: await buildItems(context, ids, query),
      total: query.with_total || query.with_rom_id_index ? index.ids.length : null,
      limit: query.limit,
      offset: query.offset,
      char_index: query.with_char_index ? index.characters : {},
      filter_values: filterValues,
      rom_id_index: { text: query.with_rom_id_index ? index.text : null }
    }
  }

  return {
    list,

    /** Lists the visible ROMs that the caller has not hidden, by name. */
    listIds: async (context: Context<AnyCaller>): Promise<CachedText> => (await indexScope(context, NO_SCOPE)).text,

    /** Lists the ids of the ROMs in a part of the library, by name. */
    listScope: async (context: Context<AnyCaller>, query: ScopeQuery): Promise<number[]> =>
      [...(await indexScope(context, query)).ids],

    /** Lists the ids of all ROMs that a stored filter finds for a caller, in the order of the filter. */
    async listFiltered ({ db, caller }: Context<AnyCaller>, criteria: Criteria): Promise<Int32Array> {
      const versions = await selectVersions(db, caller?.id ?? null)
      const { order, ...filter } = readFilter(caller, extensions, criteria)
      return (await lists.index({ caller, versions, ...filter }, order)).ids
    },

    async pickRandom (context: Context<AnyCaller>, query: ScopeQuery): Promise<BuiltSimpleRom | null> {
      const { ids } = await indexScope(context, query)
      const id = ids[Math.floor(Math.random() * ids.length)]
      const [found] = id === undefined ? [] : await builder.buildByIds(context, [id], false)
      return found === undefined ? null : toSimple(found.rom)
    },

    async listFilterValues (context: Context<AnyCaller>): Promise<RomFilters> {
      const versions = await selectVersions(context.db, context.caller?.id ?? null)
      return await lists.filterValues(await scopeOf(context, versions, NO_SCOPE, ''))
    }
  }
}
