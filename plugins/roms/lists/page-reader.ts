import { Value } from '@sinclair/typebox/value'
import type { Context } from '../../../core/access/context.ts'
import { type Condition, allOf } from '../../../core/database/conditions.ts'
import type { Config } from '../../../core/config/config.ts'
import type { Db } from '../../../core/database/db.ts'
import { selectLibraries } from '../../library/library-rows.ts'
import { type VersionSnapshot, selectVersions } from '../../library-versions/version-rows.ts'
import type { AnyCaller } from '../../platforms/visibility.ts'
import type { RomExtensions } from '../extensions.ts'
import { listNamedQueries } from '../filters/id-queries.ts'
import { ListRomsQuery } from '../filters/list-query.ts'
import { readAllValueFilters, valueConditions } from '../filters/value-filters.ts'
import { needsIndex, needsOnlyTotal } from './cached-list.ts'
import type { ListCache } from './list-cache.ts'
import { ListIndex } from './list-index.ts'
import { ORDER_BY_NAME, type Order } from './list-order.ts'
import { prepareConditions } from './query-conditions.ts'
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

/** The ids of a page; the whole list, or an empty one if it was not read; and its length, or null if not known. */
export interface ListedPage { ids: readonly number[], index: ListIndex, total: number | null }

/** Loads the versions once per request, if at all. */
export type LoadVersions = () => Promise<VersionSnapshot>

interface PageReaderParts {
  config: Config
  extensions: RomExtensions
  cache: ListCache
  estimates: ValueEstimates
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

/** Reads a list of the server by name: of all ROMs, and of one ROM of each group. */
async function readFirst (db: Db, read: PageReader['read'], query: Partial<ListRomsQuery>): Promise<void> {
  for (const isGrouped of [false, true]) {
    const whole = { ...Value.Create(ListRomsQuery), ...query, group_by_meta_id: isGrouped }
    await read({ db, caller: null }, whole, ORDER_BY_NAME, () => selectVersions(db, null))
  }
}

/** Creates the reader of pages: it finds the ids of a page by the shortest of several ways. */
export function createPageReader ({ config, extensions, cache, estimates }: PageReaderParts) {
  /** Returns the ids of a page if few ROMs are read for them, else null. */
  async function readNear (db: Db, query: ListRomsQuery, walk: Walk): Promise<number[] | null> {
    if (estimates.limitOf(query) < FEW_ROMS) {
      // The planner finds the few by this condition, and checks the other one for them alone.
      const hasValues = valueConditions(readAllValueFilters(query), false)
      return await selectFromFew(db, { ...walk, condition: allOf([...hasValues, walk.condition]) })
    }
    return await walkToPage(db, walk, query.search_term === '' ? NEAR_ROMS : NEAR_SEARCHED_ROMS)
  }

  /** Reads a page: from the index of the whole list if the query needs it, or few ROMs meet its filters. */
  async function read (
    context: Context<AnyCaller>, query: ListRomsQuery, order: Order, loadVersions: LoadVersions
  ): Promise<ListedPage> {
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
    if (near !== null) return { ids: near, index: NO_INDEX, total: null }
    const common = { caller, versions: await loadVersions(), settings: regionPriority }
    const list = conditions.describe(query, common)
    const isQuick = cache.isQuick(list, order)
    const far = isNear && !isQuick ? await walkFar(db, walk, condition(caller, false)) : null
    if (far !== null) return { ids: far, index: NO_INDEX, total: null }
    if (!isQuick && needsOnlyTotal(query, order)) {
      // The total is the same in every order, and the list by name is probably cached.
      const byNames = conditions.describe({ ...query, order_by: '', order_dir: 'asc' }, common)
      const [ids, { length }] = await Promise.all([readNear(db, query, walk), cache.index(byNames, ORDER_BY_NAME)])
      if (ids !== null) return { ids, index: NO_INDEX, total: length }
    }
    const index = await cache.index(list, order)
    return { ids: index.slice(offset, limit), index, total: index.length }
  }

  return {
    read,

    /**
     * Reads the lists that apps show first, and the ids of filters, so that no caller waits for them. The lists of
     * matched ROMs are picked from the others, which also compiles the code that picks all such lists.
     */
    async prepare (db: Db): Promise<void> {
      estimates.refresh()
      await readFirst(db, read, {})
      const queries = listNamedQueries(extensions.providers, await selectLibraries(db))
      await cache.prepare(await selectVersions(db, null), queries)
      await readFirst(db, read, { matched: true })
    }
  }
}
export type PageReader = ReturnType<typeof createPageReader>
