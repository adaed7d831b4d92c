import type { RomProviders } from '../providers.ts'
import { readVirtualId } from '../virtual-collections.ts'
import { type SplitQuery, splitByIds, splitDumps, splitFlag, splitLibrary, splitProviders, splitTime } from './id-queries.ts'
import type { ListRomsQuery } from './list-query.ts'
import { idsBySearch } from './search-conditions.ts'
import { idsByAnyValue, idsByValues, readAllValueFilters, withoutValueFilters } from './value-filters.ts'

function splitValues (query: ListRomsQuery): SplitQuery | null {
  const { virtual_collection_id: virtualId, ...others } = query
  const filters = readAllValueFilters(query)
  if (filters.length === 0 || (virtualId !== undefined && readVirtualId(virtualId) === null)) return null
  const isExcluded = filters.every(({ logic }) => logic === 'none')
  const ids = (isExcluded ? idsByAnyValue : idsByValues)(filters)
  return splitByIds(ids, withoutValueFilters(others), { isExcluded })
}

/**
 * Splits a query in two if few blocks answer a part of it: the search by names, else the filters by values, else a
 * flag, else the providers with a match, else the comparison with DAT files, else the time of changes, else a library.
 */
export function splitQuery (query: ListRomsQuery, providers: RomProviders): SplitQuery | null {
  const ids = idsBySearch(query.search_term)
  if (ids !== null) return splitByIds(ids, { ...query, search_term: '' })
  return splitValues(query) ?? splitFlag(query, providers) ?? splitProviders(query, providers) ?? splitDumps(query) ??
    splitTime(query) ?? splitLibrary(query)
}
