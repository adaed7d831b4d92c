import type { RawBuilder } from 'kysely'
import { readVirtualId } from '../virtual-collections.ts'
import type { ListRomsQuery } from './list-query.ts'
import { idsBySearch } from './search-conditions.ts'
import { idsByValues, readAllValueFilters, withoutValueFilters } from './value-filters.ts'

/** A query in two parts, of which both must hold: one for ids of ROMs, and the rest of the filters. */
export interface SplitQuery { ids: RawBuilder<unknown>, rest: ListRomsQuery }

/** Splits a query if a table of few blocks answers a part of it: the search by names, else the filters by values. */
export function splitQuery (query: ListRomsQuery): SplitQuery | null {
  const named = idsBySearch(query.search_term)
  if (named !== null) return { ids: named, rest: { ...query, search_term: '' } }
  const filters = readAllValueFilters(query)
  const { virtual_collection_id: virtualId, ...others } = query
  if (filters.length === 0 || (virtualId !== undefined && readVirtualId(virtualId) === null)) return null
  return { ids: idsByValues(filters), rest: withoutValueFilters(others) }
}
