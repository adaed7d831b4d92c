import { type RawBuilder, sql } from 'kysely'
import { type Condition, allOf, anyOf, not } from '../../../core/database/conditions.ts'
import { COUNTED_LISTS, type CountedColumn, hashOfValue } from '../value-count-rows.ts'
import { VIRTUAL_TYPES, type VirtualCollection, readVirtualId } from '../virtual-collections.ts'
import type { ListRomsQuery } from './list-query.ts'

type Logic = 'any' | 'all' | 'none'
export const readLogic = (word: string): Logic => word === 'all' || word === 'none' ? word : 'any'

/** A filter by some values of a column, of which there is one at least. */
export interface ValueFilter { column: CountedColumn, values: readonly string[], logic: Logic }

/** Game modes are returned as filter values, but no client filters by them. */
const FILTERED_LISTS = COUNTED_LISTS.filter((name) => name !== 'game_modes')

/** Returns the filters of a list by values, except those of its scope. */
export function readValueFilters (query: ListRomsQuery): ValueFilter[] {
  // A ROM has one player count, so several of them are alternatives.
  const logicOfCounts = readLogic(query.player_counts_logic) === 'none' ? 'none' : 'any'
  const filters: ValueFilter[] = [
    ...FILTERED_LISTS.map((name) => ({
      column: name, values: query[name].filter((value) => value !== ''), logic: readLogic(query[`${name}_logic`])
    })),
    { column: 'player_count', values: query.player_counts, logic: logicOfCounts }
  ]
  return filters.filter(({ values }) => values.length > 0)
}

const UNFILTERED = {
  ...Object.fromEntries(FILTERED_LISTS.map((name) => [name, []])),
  ...Object.fromEntries(FILTERED_LISTS.map((name) => [`${name}_logic`, 'any'])),
  player_counts: [],
  player_counts_logic: 'any'
}

/** Returns a query without the filters that {@link readValueFilters} returns. */
export const withoutValueFilters = (query: ListRomsQuery): ListRomsQuery => ({ ...query, ...UNFILTERED })

/** Returns the filter that selects the ROMs of a virtual collection. */
export const filterOfVirtual = ({ type, name }: VirtualCollection): ValueFilter =>
  ({ column: VIRTUAL_TYPES[type], values: [name], logic: 'any' })

/** Returns the filters of a list and of its scope by values. A virtual collection that cannot exist is no filter. */
export function readAllValueFilters (query: ListRomsQuery): ValueFilter[] {
  const virtual = readVirtualId(query.virtual_collection_id ?? '')
  return [...readValueFilters(query), ...virtual === null ? [] : [filterOfVirtual(virtual)]]
}

type Values = RawBuilder<unknown>

/** Compares two arrays: the values of a ROM, and those of a filter. */
function meets (own: Values, logic: Logic, wanted: Values): Condition {
  if (logic === 'all') return sql<boolean>`${own} @> ${wanted}`
  const overlaps = sql<boolean>`${own} && ${wanted}`
  return logic === 'none' ? not(overlaps) : overlaps
}

const IS_LIST = new Set<CountedColumn>(COUNTED_LISTS)

/** True for a ROM `r` that meets a filter, by its own columns. */
function meetsByColumn ({ column, values, logic }: ValueFilter): Condition {
  const own = sql.ref(`r.${column}`)
  return meets(IS_LIST.has(column) ? own : sql`array[${own}]`, logic, sql`${values}::text[]`)
}

/** True for a row `v` of `rom_values` that meets a filter. */
function meetsByHashes ({ column, values, logic }: ValueFilter): Condition {
  const hashes = values.map((value) => hashOfValue(sql`${column}::text`, sql`${value}::text`))
  return meets(sql`v.hashes`, logic, sql`array[${sql.join(hashes)}]`)
}

/** Selects the ids of all ROMs that meet some filters, by the index of values. */
export const idsByValues = (filters: readonly ValueFilter[]): RawBuilder<unknown> =>
  sql`select v.rom_id from rom_values v where ${allOf(filters.map(meetsByHashes))}`

/** Selects the ids of all ROMs that have any value of some filters. */
export const idsByAnyValue = (filters: readonly ValueFilter[]): RawBuilder<unknown> =>
  sql`select v.rom_id from rom_values v where ${anyOf(filters.map((filter) => meetsByHashes({ ...filter, logic: 'any' })))}`

/**
 * Returns the conditions of some filters on a ROM `r`.
 *
 * @param isForFew true if the conditions apply to few ROMs, not to all
 */
export function valueConditions (filters: readonly ValueFilter[], isForFew: boolean): Condition[] {
  if (isForFew) return filters.map(meetsByColumn)
  // Not `not in`: beyond some hundred thousand ids the database would search the list for each ROM.
  return filters.length === 0 ? [] : [sql<boolean>`exists (${idsByValues(filters)} and v.rom_id = r.id)`]
}
