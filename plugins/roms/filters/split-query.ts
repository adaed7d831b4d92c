import type { RawBuilder } from 'kysely'
import type { RomProviders } from '../providers.ts'
import { readVirtualId } from '../virtual-collections.ts'
import { INDEXED_FLAGS, idsByFlag, idsByProviders } from './list-conditions.ts'
import type { ListRomsQuery } from './list-query.ts'
import { idsBySearch } from './search-conditions.ts'
import { idsByAnyValue, idsByValues, readAllValueFilters, withoutValueFilters } from './value-filters.ts'

/** A query in two parts: one for ids of ROMs, and the rest of the filters. */
export interface SplitQuery {
  ids: RawBuilder<unknown>
  /** True if the list has all ROMs of the rest without these ids, false if only those with them. */
  isExcluded: boolean
  rest: ListRomsQuery
}

function splitValues (query: ListRomsQuery): SplitQuery | null {
  const { virtual_collection_id: virtualId, ...others } = query
  const filters = readAllValueFilters(query)
  if (filters.length === 0 || (virtualId !== undefined && readVirtualId(virtualId) === null)) return null
  const isExcluded = filters.every(({ logic }) => logic === 'none')
  return { ids: (isExcluded ? idsByAnyValue : idsByValues)(filters), isExcluded, rest: withoutValueFilters(others) }
}

function splitFlag (query: ListRomsQuery, providers: RomProviders): SplitQuery | null {
  const name = INDEXED_FLAGS.find((flag) => query[flag] !== undefined)
  if (name === undefined) return null
  const { [name]: isWanted, ...rest } = query
  const { ids, isSet } = idsByFlag(providers)[name]
  return { ids, isExcluded: isWanted !== isSet, rest }
}

function splitProviders (query: ListRomsQuery, providers: RomProviders): SplitQuery | null {
  const found = idsByProviders(query, providers)
  if (found === null) return null
  const rest = { ...query, metadata_providers: [], metadata_providers_logic: 'any' }
  return { ids: found.ids, isExcluded: !found.isSet, rest }
}

/**
 * Splits a query if few blocks answer a part of it: the search by names, else the filters by values, else a flag, else
 * the providers with a match.
 */
export function splitQuery (query: ListRomsQuery, providers: RomProviders): SplitQuery | null {
  const named = idsBySearch(query.search_term)
  if (named !== null) return { ids: named, isExcluded: false, rest: { ...query, search_term: '' } }
  return splitValues(query) ?? splitFlag(query, providers) ?? splitProviders(query, providers)
}
