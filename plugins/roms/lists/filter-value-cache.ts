import { createLibraryCache } from '../../library-versions/library-cache.ts'
import type { LongReads } from '../../library/long-reads.ts'
import { type CountedFilters, NO_FILTERS, selectCountedValues, selectFilterValues } from '../filters/filter-value-rows.ts'
import type { RomFilters } from '../schemas.ts'
import { type CachedList, findPlatforms, keyOf, kindsOf } from './cached-list.ts'
import type { ListCache } from './list-cache.ts'
import { ORDER_BY_NAME } from './list-order.ts'

/** Limit per worker. */
const MAX_BYTES = 8 * 1024 ** 2
/** A library whose filter values take longer than this counts as large. */
const WAIT_MS = 2_000

interface FilterValueCacheParts {
  reads: LongReads
  lists: ListCache
}

/** Caches the filter values of lists in a worker. */
export function createFilterValueCache ({ reads, lists }: FilterValueCacheParts) {
  const cache = createLibraryCache<CountedFilters>({
    maxBytes: MAX_BYTES, sizeOf: (values) => JSON.stringify(values).length
  })

  async function load (list: CachedList): Promise<CountedFilters> {
    const platforms = findPlatforms(list.query)
    if (platforms !== undefined) return await selectCountedValues(reads, list.caller, platforms)
    const index = await lists.index(list, ORDER_BY_NAME)
    return { values: await selectFilterValues(reads, index.toIds()), counts: null }
  }

  const argumentsOf = (list: CachedList) =>
    [list.versions, keyOf(list, list.caller, kindsOf(list.query, ORDER_BY_NAME)), () => load(list)] as const

  return {
    get: async (list: CachedList): Promise<RomFilters> => (await cache.get(...argumentsOf(list))).values,

    /** Waits `WAIT_MS` at most. A page gets no values until they are computed; a later page gets them. */
    getSoon: async (list: CachedList): Promise<CountedFilters> =>
      await cache.getSoon(...argumentsOf(list), WAIT_MS) ?? NO_FILTERS
  }
}
export type FilterValueCache = ReturnType<typeof createFilterValueCache>
