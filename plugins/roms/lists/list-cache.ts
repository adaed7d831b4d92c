import type { Condition } from '../../../core/database/conditions.ts'
import { createLibraryCache } from '../../library-versions/library-cache.ts'
import type { LongReads } from '../../library/long-reads.ts'
import type { VersionSnapshot, VersionKind } from '../../library-versions/version-rows.ts'
import { type AnyCaller, callerKey } from '../../platforms/visibility.ts'
import { noFilterValues, selectFilterValues } from '../filters/filter-value-rows.ts'
import type { ListRomsQuery, ScopeQuery } from '../filters/list-query.ts'
import type { Order } from './list-order.ts'
import { type PageIndex, selectPageIndex, sizeOfPageIndex } from './page-index-rows.ts'
import type { RomFilters } from '../schemas.ts'

/** Limit per worker: four lists of a million ROMs, or hundreds of usual lists. */
const INDEXES_MAX_BYTES = 64 * 1024 ** 2
const FILTER_VALUES_MAX_BYTES = 8 * 1024 ** 2
/** A library whose filter values take longer than this counts as large. */
const FILTER_VALUES_WAIT_MS = 2_000
/** Up to this offset, reading a page is faster than reading the whole list, if an index has the order. */
const NEAR_OFFSET = 1_000

type ListPart = Partial<ListRomsQuery & ScopeQuery>

/** Parameters that change neither the listed ROMs nor their order. */
const NOT_IN_KEY = new Set([
  'limit', 'offset', 'with_total', 'with_char_index', 'with_filter_values', 'with_rom_id_index', 'with_files'
])
const isDefault = (name: string, value: unknown) => value === undefined || value === '' || value === 'any' ||
  (name === 'order_dir' && value === 'asc') || (name === 'group_by_meta_id' && value === false) ||
  (Array.isArray(value) && value.length === 0)

/** Names a list by the parameters that a client set, so equal lists share one key. */
const nameList = (query: ListPart): [string, unknown][] =>
  Object.entries(query).filter(([name, value]) => !NOT_IN_KEY.has(name) && !isDefault(name, value))
    .sort(([a], [b]) => a < b ? -1 : 1)

/** True if a page must be read from the ids of the whole list. */
export const needsIndex = (query: ListRomsQuery, order: Order): boolean => query.with_total || query.with_char_index ||
  query.with_rom_id_index || query.offset > NEAR_OFFSET || !order.isIndexed

/**
 * Returns the version kinds a list depends on besides the library. The filter of a smart collection may use all kinds.
 */
function kindsOf (query: ListPart, order: Order | null): VersionKind[] {
  if (query.smart_collection_id !== undefined) return ['shown', 'marks', 'assets', 'collections']
  const byMarks = order?.needsMarks === true || query.last_played !== undefined || (query.statuses ?? []).length > 0
  const byAssets = query.has_saves !== undefined || query.has_states !== undefined
  const byCollections = query.collection_id !== undefined || query.favorite !== undefined
  return ['shown', ...(byMarks ? ['marks' as const] : []), ...(byAssets ? ['assets' as const] : []),
    ...(byCollections ? ['collections' as const] : [])]
}

/** A list whose condition depends only on the caller, the query and `by`. */
export interface CachedList {
  caller: AnyCaller
  versions: VersionSnapshot
  query: ListPart
  condition: Condition
  /** The settings that the condition uses. */
  by?: readonly string[]
}

/** Caches lists in a worker: the ids of all ROMs in order, and their filter values. */
export function createListCache (reads: LongReads) {
  const indexes = createLibraryCache<PageIndex>({ maxBytes: INDEXES_MAX_BYTES, sizeOf: sizeOfPageIndex })
  const filterValues = createLibraryCache<RomFilters>({
    maxBytes: FILTER_VALUES_MAX_BYTES, sizeOf: (values) => JSON.stringify(values).length
  })

  const filterValuesArguments = ({ caller, versions, query, condition }: CachedList) => [
    versions, { caller: callerKey(caller), of: nameList(query), kinds: kindsOf(query, null) },
    () => selectFilterValues(reads, caller?.id ?? null, condition)
  ] as const

  const indexKey = ({ caller, query, by = [] }: CachedList, order: Order) =>
    ({ caller: callerKey(caller), of: [nameList(query), by], kinds: kindsOf(query, order) })

  return {
    index: (list: CachedList, order: Order): Promise<PageIndex> => indexes.get(list.versions, indexKey(list, order),
      () => selectPageIndex(reads, list.caller?.id ?? null, list.condition, order)),

    /** Returns the cached index of a list; null if there is none, or if it is out of date. */
    findIndex: (list: CachedList, order: Order): PageIndex | null => indexes.find(list.versions, indexKey(list, order)),

    filterValues: (list: CachedList): Promise<RomFilters> => filterValues.get(...filterValuesArguments(list)),

    /** Waits `FILTER_VALUES_WAIT_MS` at most. A page gets no values until they are computed; a later page gets them. */
    filterValuesSoon: async (list: CachedList): Promise<RomFilters> =>
      await filterValues.getSoon(...filterValuesArguments(list), FILTER_VALUES_WAIT_MS) ?? noFilterValues()
  }
}
export type ListCache = ReturnType<typeof createListCache>
