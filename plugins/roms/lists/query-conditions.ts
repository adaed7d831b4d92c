import { Value } from '@sinclair/typebox/value'
import type { Context } from '../../../core/access/context.ts'
import { type Condition, NOTHING, allOf } from '../../../core/database/conditions.ts'
import type { AnyCaller } from '../../platforms/visibility.ts'
import type { RomExtensions } from '../extensions.ts'
import { selectCriteria } from '../filters/collection-rows.ts'
import { type Criteria, readCriteria } from '../filters/criteria.ts'
import { ListRomsQuery, type ScopeQuery, pickScope } from '../filters/list-query.ts'
import { filterConditions, isMarked, isNotHidden, scopeConditions } from '../filters/list-conditions.ts'
import { matchesTerm } from '../filters/search-conditions.ts'
import { splitOwn } from '../filters/own-filters.ts'
import { splitQuery } from '../filters/split-query.ts'
import { markedRoms } from '../rows.ts'
import { isRomVisible } from '../visibility.ts'
import { isBestOfGroup, isRepresentative } from './grouping.ts'
import type { CachedList } from './cached-list.ts'
import { NO_JOINS, type Order, readOrder } from './list-order.ts'

/** Returns the condition of a smart collection. @param isForFew as in {@link ConditionOptions} */
type SmartCondition = (isForFew: boolean) => Condition

/** A query, its order, and the regions that decide which ROM of a group is shown. */
interface ListOptions { query: ListRomsQuery, order: Order, regionPriority?: readonly string[] }

interface ConditionOptions {
  order: Order
  /** Decides which ROM of a group is shown. */
  regionPriority?: readonly string[]
  /** The condition of the smart collection that filters the list. */
  smart?: SmartCondition | null
  /** True if the condition applies to few ROMs, not to all. */
  isForFew?: boolean
}

/** The query of a stored filter, with its order and condition. */
interface StoredFilter { query: ListRomsQuery, order: Order, condition: CachedList['condition'] }

/** True if another table names the ROMs of a list, which are few. */
const isOfNamedRoms = (query: Partial<ListRomsQuery>) => query.collection_id !== undefined ||
  [query.favorite, query.last_played, query.has_saves, query.has_states].includes(true)

/** Returns the condition of a top-level list. Hidden ROMs are removed after the groups are formed. */
function listCondition (
  caller: AnyCaller, extensions: RomExtensions, query: ListRomsQuery,
  { order, regionPriority = [], smart = null, isForFew = false }: ConditionOptions
): Condition {
  const scope = { query, search: matchesTerm(query.search_term, isForFew), smart: smart?.(isForFew) ?? null, isForFew }
  const filterBy = (filters: ListRomsQuery) => allOf([
    isRomVisible(caller),
    ...scopeConditions(caller, scope),
    ...filterConditions(filters, { ...extensions, caller, isForFew }),
    ...(order.needsMarks ? [isMarked] : [])
  ])
  const filtered = filterBy(query)
  const isJoined = order.joins !== NO_JOINS || isOfNamedRoms(query)
  const shown = query.statuses.includes('hidden') || smart !== null ? [] : [isNotHidden(caller, isJoined)]
  if (!query.group_by_meta_id) return allOf([filtered, ...shown])
  // All ROMs of a group are siblings. Another search for siblings would take as long as the grouping.
  const { duplicate: _isSame, ...otherConditions } = query
  const { identifying } = extensions.providers
  const tables = markedRoms(caller?.id ?? null)
  const isFirst = isForFew ? isBestOfGroup : isRepresentative
  const isChosen = isFirst(tables, filterBy(otherConditions), identifying, regionPriority)
  return allOf([filtered, isChosen, ...shown])
}

export function readFilter (extensions: RomExtensions, criteria: Criteria): StoredFilter {
  const { query, order } = readOrder(readCriteria(criteria), extensions.providers)
  const condition: CachedList['condition'] = (caller, isForFew) =>
    listCondition(caller, extensions, query, { order, isForFew })
  return { query, order, condition }
}

/** A smart collection: its filter, null if the caller does not see it, and the condition of its ROMs. */
interface FoundSmart { criteria: Criteria | null, condition: SmartCondition }

/** True for a list by name in descending order. */
const isDescending = ({ order_by: by, order_dir: direction }: ListRomsQuery) => by === '' && direction === 'desc'

/** Loads the smart collection that a query names; null if it names none. */
async function findSmart (
  context: Context<AnyCaller>, extensions: RomExtensions, { smart_collection_id: id }: ScopeQuery
): Promise<FoundSmart | null> {
  if (id === undefined) return null
  const criteria = await selectCriteria(context, id)
  const condition: SmartCondition = criteria === null
    ? () => NOTHING
    : (isForFew) => readFilter(extensions, criteria).condition(context.caller, isForFew)
  return { criteria, condition }
}

/** The conditions of a query, and of those that differ from it only by the search, the values and the flags. */
export interface QueryConditions {
  find (query: ListRomsQuery): CachedList['condition']
  /** Describes the list of a query, and the longer lists that contain all its ROMs in the same order. */
  describe (query: ListRomsQuery, common: Pick<CachedList, 'caller' | 'versions' | 'settings'>): CachedList
}

export async function prepareConditions (
  context: Context<AnyCaller>, extensions: RomExtensions, { query, ...more }: ListOptions
): Promise<QueryConditions> {
  const smart = await findSmart(context, extensions, query)
  const options = { ...more, smart: smart?.condition ?? null }
  // A filter is part of the key, because it may be edited before the versions are read.
  const filter = smart === null ? undefined : JSON.stringify(smart.criteria)
  const find: QueryConditions['find'] = (some) => (caller, isForFew) =>
    listCondition(caller, extensions, some, { ...options, isForFew })
  const describe: QueryConditions['describe'] = (some, common) => {
    const list = { ...common, filter, query: some, condition: find(some) }
    if (some.group_by_meta_id) {
      return { ...list, ungrouped: describe({ ...some, group_by_meta_id: false }, { ...common, settings: [] }) }
    }
    const split = splitOwn(some, common.caller, extensions.userFiles) ?? splitQuery(some, extensions.providers)
    if (split !== null) return { ...list, pick: { filter: split.filter, from: describe(split.rest, common) } }
    return { ...list, ascending: isDescending(some) ? describe({ ...some, order_dir: 'asc' }, common) : null }
  }
  return { find, describe }
}

const NO_FILTERS = Value.Create(ListRomsQuery)

/** Returns the query of all ROMs in a part of the library that contain a search term. */
export const queryOfScope = (scope: ScopeQuery, term: string): ListRomsQuery =>
  ({ ...NO_FILTERS, ...pickScope(scope), search_term: term })
