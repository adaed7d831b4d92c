import { Value } from '@sinclair/typebox/value'
import type { Context } from '../../../core/access/context.ts'
import { type Condition, allOf } from '../../../core/database/conditions.ts'
import type { Config } from '../../../core/config/config.ts'
import type { Db } from '../../../core/database/db.ts'
import { formatDate } from '../../../core/typebox.ts'
import { type VersionSnapshot, selectVersions } from '../../library-versions/version-rows.ts'
import type { AnyCaller } from '../../platforms/visibility.ts'
import type { Addresses } from '../../resources/addresses.ts'
import type { RomExtensions, UserFiles } from '../extensions.ts'
import { type CountedFilters, NO_FILTERS } from '../filters/filter-value-rows.ts'
import { ListRomsQuery, withOldNames } from '../filters/list-query.ts'
import { readAllValueFilters, valueConditions } from '../filters/value-filters.ts'
import type { LoadedRom, RomBuilder } from '../items/rom-builder.ts'
import type { BuiltSimpleRom, RomPage } from '../schemas.ts'
import { needsIndex } from './cached-list.ts'
import type { FilterValueCache } from './filter-value-cache.ts'
import type { ListCache } from './list-cache.ts'
import { type Order, orderByName, readOrder } from './list-order.ts'
import { ListIndex } from './list-index.ts'
import { prepareConditions, queryOfScope } from './query-conditions.ts'
import type { ValueEstimates } from './value-estimates.ts'
import { type Walk, estimateList, selectFromFew, walkToPage } from './walk-rows.ts'

const NO_INDEX = ListIndex.of(new Int32Array(), new Uint32Array())

/** ROMs that are read first for a page that needs no index: some milliseconds. */
const NEAR_ROMS = 500
/** The same for a search, of which each ROM is a lookup of some microseconds: games that appear as one types. */
const NEAR_SEARCHED_ROMS = 3_000
/** ROMs that are read next, before the index of the whole list: some hundredths of a second. */
const FAR_ROMS = 20_000
/** The same for a list of as many ROMs, of which each takes ten times as long if the whole list is read. */
const FARTHEST_ROMS = 60_000
/** A list of fewer ROMs is read as a whole by an index of values, which takes some milliseconds too. */
const FEW_ROMS = 2_000

/** Loads the versions once per request, if at all. */
type LoadVersions = () => Promise<VersionSnapshot>

interface RomPageParts {
  config: Config
  extensions: RomExtensions
  builder: RomBuilder
  cache: ListCache
  filterValues: FilterValueCache
  estimates: ValueEstimates
  /** The addresses of pictures. */
  addresses: Addresses
}

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

/**
 * Walks to a page if the walk is likely to end soon, and reads fewer ROMs than the list has. Names that begin with the
 * same word are adjacent, so ROMs may come late although many meet the condition.
 *
 * @param whole the condition of the list as for all ROMs, of which the planner knows more
 */
async function walkFar (db: Db, walk: Walk, whole: Condition): Promise<number[] | null> {
  const { listed, walked } = await estimateList(db, { ...walk, condition: whole })
  if (walked >= FAR_ROMS / 2 || walked >= listed) return null
  return await walkToPage(db, walk, Math.max(FAR_ROMS, Math.min(listed, FARTHEST_ROMS)))
}

/** Returns the platform of a list of one platform, else null. */
function findOnlyPlatform ({ platform_ids: ids, platform_id: id }: ListRomsQuery): number | null {
  const [first, ...others] = id === undefined ? ids : [...ids, id]
  return first === undefined || others.length > 0 ? null : first
}

/** Creates the part of the ROMs service that lists a page of ROMs. */
export function createRomPages ({
  config, extensions, builder, cache, filterValues, estimates, addresses
}: RomPageParts) {
  const { providers, userFiles } = extensions
  const byName = orderByName(providers)

  /** Returns the ids of a page if few ROMs are read for them, else null. */
  async function readNear (db: Db, query: ListRomsQuery, walk: Walk): Promise<number[] | null> {
    if (estimates.limitOf(query) < FEW_ROMS) {
      // The planner finds the few by this condition, and checks the other one for them alone.
      const hasValues = valueConditions(readAllValueFilters(query), false)
      return await selectFromFew(db, { ...walk, condition: allOf([...hasValues, walk.condition]) })
    }
    return await walkToPage(db, walk, query.search_term === '' ? NEAR_ROMS : NEAR_SEARCHED_ROMS)
  }

  /** Returns the ids of a page, and the index of the whole list if the query needs it, or few ROMs meet its filters. */
  async function readPage (
    context: Context<AnyCaller>, query: ListRomsQuery, order: Order, loadVersions: LoadVersions
  ): Promise<{ ids: readonly number[], index: ListIndex }> {
    const { db, caller } = context
    const { limit, offset } = query
    const regionPriority = query.group_by_meta_id ? config.scan.priority.region : []
    const conditions = await prepareConditions(context, extensions, { query, order, regionPriority })
    const condition = conditions.find(query)
    const platformId = findOnlyPlatform(query)
    const walk = {
      userId: caller?.id ?? null, condition: condition(caller, true), order, platformId, limit, offset
    }
    const isNear = !needsIndex(query, order)
    const near = isNear ? await readNear(db, query, walk) : null
    if (near !== null) return { ids: near, index: NO_INDEX }
    const common = { caller, versions: await loadVersions(), settings: regionPriority }
    const list = conditions.describe(query, common)
    const far = isNear && !cache.isQuick(list, order) ? await walkFar(db, walk, condition(caller, false)) : null
    if (far !== null) return { ids: far, index: NO_INDEX }
    const index = await cache.index(list, order)
    return { ids: index.slice(offset, limit), index }
  }

  /** Builds the ROMs of a page. A list of played ROMs shows the picture of each. */
  async function buildItems (
    context: Context<AnyCaller>, ids: readonly number[], query: ListRomsQuery
  ): Promise<BuiltSimpleRom[]> {
    const found = await builder.buildByIds(context, ids, query.with_files)
    const pictures = query.last_played === true
      ? await selectPictures(context, found, userFiles, addresses)
      : null
    return found.map(({ row, rom: { shared, more } }) =>
      ({ shared, more: { ...more, screenshot_path: pictures?.get(row.id) ?? null } }))
  }

  async function readFilterValues (
    context: Context<AnyCaller>, query: ListRomsQuery, loadVersions: LoadVersions
  ): Promise<CountedFilters> {
    const scope = queryOfScope(query, query.search_term)
    const conditions = await prepareConditions(context, extensions, { query: scope, order: byName })
    const common = { caller: context.caller, versions: await loadVersions() }
    return await filterValues.getSoon(conditions.describe(scope, common))
  }

  async function list (context: Context<AnyCaller>, input: ListRomsQuery): Promise<RomPage> {
    const query = withOldNames(input)
    const order = readOrder(query.order_by, query.order_dir, providers)
    let versions: Promise<VersionSnapshot> | null = null
    const loadVersions = async () => {
      versions ??= selectVersions(context.db, context.caller?.id ?? null)
      return await versions
    }
    const [{ ids, index }, { values, counts }] = await Promise.all([
      readPage(context, query, order, loadVersions),
      query.with_filter_values ? readFilterValues(context, query, loadVersions) : NO_FILTERS
    ])
    return {
      items: await buildItems(context, ids, query),
      total: query.with_total || query.with_rom_id_index ? index.length : null,
      limit: query.limit,
      offset: query.offset,
      char_index: query.with_char_index ? index.offsets : {},
      filter_values: values,
      ...(query.with_filter_counts === true && counts !== null ? { filter_counts: counts } : {}),
      rom_id_index: { texts: query.with_rom_id_index ? index.texts : null }
    }
  }

  return {
    list,

    /** Reads the lists that apps show first, so that no caller waits for them. */
    async prepareLists (db: Db): Promise<void> {
      estimates.refresh()
      for (const isGrouped of [false, true]) {
        const query = { ...Value.Create(ListRomsQuery), group_by_meta_id: isGrouped }
        await readPage({ db, caller: null }, query, byName, () => selectVersions(db, null))
      }
    }
  }
}
