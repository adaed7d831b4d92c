import { isDeepStrictEqual } from 'node:util'
import { Value } from '@sinclair/typebox/value'
import type { Condition } from '../../../core/database/conditions.ts'
import type { CacheKey } from '../../library-versions/library-cache.ts'
import type { VersionKind, VersionSnapshot } from '../../library-versions/version-rows.ts'
import { type AnyCaller, callerKey } from '../../platforms/visibility.ts'
import type { IdFilter } from '../filters/id-queries.ts'
import { ListRomsQuery, OLD_PARAMETERS } from '../filters/list-query.ts'
import type { Order } from './list-order.ts'

/** Up to this offset, reading a page is faster than reading the whole list, if an index has the order. */
const NEAR_OFFSET = 1_000

/** Parameters that change neither the listed ROMs nor their order, and those that were merged into others. */
const NOT_IN_KEY = new Set<string>([
  'limit', 'offset', 'with_total', 'with_char_index', 'with_filter_values', 'with_filter_counts', 'with_rom_id_index', 'with_files',
  ...OLD_PARAMETERS
])
const DEFAULTS: Readonly<Record<string, unknown>> = Value.Create(ListRomsQuery)
/** Only the default of the same parameter: a person may search for "any", and an empty id names no collection. */
const isDefault = (name: string, value: unknown) => value === undefined || isDeepStrictEqual(value, DEFAULTS[name])

/** Returns the key of a list: the parameters that a client set, so equal lists share one key. */
const listKeyOf = (query: ListRomsQuery): [string, unknown][] =>
  Object.entries(query).filter(([name, value]) => !NOT_IN_KEY.has(name) && !isDefault(name, value))
    .sort(([a], [b]) => a < b ? -1 : 1)

/** True if a page must be read from the ids of the whole list. */
export const needsIndex = (query: ListRomsQuery, order: Order): boolean => query.with_total || query.with_char_index ||
  query.with_rom_id_index || query.offset > NEAR_OFFSET || order.indexed === null

/** True if a page needs nothing of the ids of the whole list but their number. */
export const needsOnlyTotal = (query: ListRomsQuery, order: Order): boolean =>
  query.with_total && !needsIndex({ ...query, with_total: false }, order)

/**
 * Returns the version kinds a list depends on besides the library. The filter of a smart collection may use all kinds.
 */
export function kindsOf (query: ListRomsQuery, order: Order): VersionKind[] {
  if (query.smart_collection_id !== undefined) return ['shown', 'marks', 'assets', 'collections']
  const byMarks = order.needsMarks || query.last_played !== undefined || query.statuses.length > 0
  const byAssets = query.has_saves !== undefined || query.has_states !== undefined
  const byCollections = query.collection_id !== undefined || query.favorite !== undefined
  return ['shown', ...(byMarks ? ['marks' as const] : []), ...(byAssets ? ['assets' as const] : []),
    ...(byCollections ? ['collections' as const] : [])]
}

/** The parameters that choose platforms. */
const PLATFORM_PARAMETERS = new Set(['platform_ids', 'platform_id'])

/** Returns the platforms of a list without other filters, null for all; undefined if the list has other filters. */
export function findPlatforms (query: ListRomsQuery): number[] | null | undefined {
  if (listKeyOf(query).some(([name]) => !PLATFORM_PARAMETERS.has(name))) return undefined
  const { platform_ids: ids, platform_id: id } = query
  const platforms = id === undefined ? ids : [...ids, id]
  return platforms.length === 0 ? null : platforms
}

/** A list whose condition depends only on the caller, the query and `settings`. */
export interface CachedList {
  caller: AnyCaller
  versions: VersionSnapshot
  query: ListRomsQuery
  /** @param isForFew true for a condition on few ROMs, not on all */
  condition (caller: AnyCaller, isForFew: boolean): Condition
  /** The settings that the condition uses. */
  settings?: readonly string[]
  /** The filter of the smart collection that the query names, as JSON; absent if it names none. */
  filter?: string | undefined
  /** Absent or null for a list that is no part of a longer one. */
  pick?: ListPick | null
  /** The same list by name in ascending order, if this one is in descending order and no part of a longer one. */
  ascending?: CachedList | null
  /** The list with all ROMs of each group; absent or null unless this list has only the first of each. */
  ungrouped?: CachedList | null
}

/** Some filters of a list, and the list without them. */
export interface ListPick { filter: IdFilter, from: CachedList }

/** Returns what a list picks from, if it is a list of platforms or of all ROMs, or picks from one itself; else null. */
export function findPick ({ pick = null }: CachedList): ListPick | null {
  return pick !== null && (findPlatforms(pick.from.query) !== undefined || findPick(pick.from) !== null) ? pick : null
}

/** Returns the key of a list for a caller. */
export const keyOf = (
  { query, settings = [], filter = '' }: Pick<CachedList, 'query' | 'settings' | 'filter'>, caller: AnyCaller, kinds: VersionKind[]
): CacheKey => ({ caller: callerKey(caller), of: [listKeyOf(query), settings, filter], kinds })
