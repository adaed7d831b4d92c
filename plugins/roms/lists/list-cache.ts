import type { RawBuilder } from 'kysely'
import { type Condition, allOf } from '../../../core/database/conditions.ts'
import { type CacheKey, createLibraryCache } from '../../library-versions/library-cache.ts'
import type { LongReads } from '../../library/long-reads.ts'
import type { VersionSnapshot, VersionKind } from '../../library-versions/version-rows.ts'
import { type AnyCaller, callerKey, canSeeEverything } from '../../platforms/visibility.ts'
import { type CountedFilters, NO_FILTERS, selectCountedValues, selectFilterValues } from '../filters/filter-value-rows.ts'
import { isOneOf } from '../filters/list-conditions.ts'
import type { ListRomsQuery, ScopeQuery } from '../filters/list-query.ts'
import { containsHash, idsBySearch } from '../filters/search-conditions.ts'
import type { ListIndex } from './list-index.ts'
import type { Order } from './list-order.ts'
import { selectIds, selectListIndex } from './list-index-rows.ts'
import type { RomFilters } from '../schemas.ts'
import { type UpdatableList, updateList } from './update-list.ts'

/** Limit per worker: three lists of a million ROMs, or hundreds of usual lists. */
const INDEXES_MAX_BYTES = 64 * 1024 ** 2
const FILTER_VALUES_MAX_BYTES = 8 * 1024 ** 2
/** A library whose filter values take longer than this counts as large. */
const FILTER_VALUES_WAIT_MS = 2_000
/** A list of fewer ROMs is updated, or read as a whole, in some hundredths of a second. */
const SHORT_ROMS = 20_000
/** Fewer ROMs that a search finds are sorted faster than they are picked from the list of all ROMs. */
const FEW_ROMS = 2_000
/** Up to this offset, reading a page is faster than reading the whole list, if an index has the order. */
const NEAR_OFFSET = 1_000

type ListPart = Partial<ListRomsQuery & ScopeQuery>

/** Parameters that change neither the listed ROMs nor their order. */
const NOT_IN_KEY = new Set([
  'limit', 'offset', 'with_total', 'with_char_index', 'with_filter_values', 'with_filter_counts', 'with_rom_id_index', 'with_files'
])
const isDefault = (name: string, value: unknown) => value === undefined || value === '' || value === 'any' ||
  (name === 'order_dir' && value === 'asc') || (name === 'group_by_meta_id' && value === false) ||
  (Array.isArray(value) && value.length === 0)

/** Returns the key of a list: the parameters that a client set, so equal lists share one key. */
const listKeyOf = (query: ListPart): [string, unknown][] =>
  Object.entries(query).filter(([name, value]) => !NOT_IN_KEY.has(name) && !isDefault(name, value))
    .sort(([a], [b]) => a < b ? -1 : 1)

/** True if a page must be read from the ids of the whole list. */
export const needsIndex = (query: ListRomsQuery, order: Order): boolean => query.with_total || query.with_char_index ||
  query.with_rom_id_index || query.offset > NEAR_OFFSET || order.indexed === null

/**
 * Returns the version kinds a list depends on besides the library. The filter of a smart collection may use all kinds.
 */
export function kindsOf (query: ListPart, order: Order | null): VersionKind[] {
  if (query.smart_collection_id !== undefined) return ['shown', 'marks', 'assets', 'collections']
  const byMarks = order?.needsMarks === true || query.last_played !== undefined || (query.statuses ?? []).length > 0
  const byAssets = query.has_saves !== undefined || query.has_states !== undefined
  const byCollections = query.collection_id !== undefined || query.favorite !== undefined
  return ['shown', ...(byMarks ? ['marks' as const] : []), ...(byAssets ? ['assets' as const] : []),
    ...(byCollections ? ['collections' as const] : [])]
}

/** The parameters that choose platforms. */
const PLATFORM_PARAMETERS = new Set(['platform_ids', 'platform_id'])

/** Returns the platforms of a list without other filters, null for all; undefined if the list has other filters. */
function findPlatforms (query: ListPart): number[] | null | undefined {
  if (listKeyOf(query).some(([name]) => !PLATFORM_PARAMETERS.has(name))) return undefined
  const { platform_ids: ids = [], platform_id: id } = query
  const platforms = id === undefined ? ids : [...ids, id]
  return platforms.length === 0 ? null : platforms
}

/** A list whose condition depends only on the caller, the query and `settings`. */
export interface CachedList {
  caller: AnyCaller
  versions: VersionSnapshot
  query: ListPart
  /** @param isForFew true for a condition on few ROMs, not on all */
  condition (caller: AnyCaller, isForFew: boolean): Condition
  /** The settings that the condition uses. */
  settings?: readonly string[]
  /** The list of the same query without its search term; absent for other lists. */
  unsearched?: CachedList
}

/** The list from which a search by names picks, and the query for the ids that it finds. */
interface SearchPick { from: CachedList, ids: RawBuilder<unknown> }

/** Returns what a search picks from, if it is a list of platforms, or of all ROMs; else null. */
function findPick ({ query, unsearched: from }: CachedList): SearchPick | null {
  const ids = idsBySearch(query.search_term ?? '')
  return from === undefined || ids === null || findPlatforms(from.query) === undefined ? null : { from, ids }
}

/** The id of the imaginary caller, whom no row names. */
const NO_USER_ID = -1

/**
 * Lists the callers of the shared lists from which a caller's list can be derived, because few ROMs differ: null for
 * the list of all ROMs, and an imaginary caller with the same group and age limit.
 */
function listSharers (caller: NonNullable<AnyCaller>): AnyCaller[] {
  const { access } = caller
  const isOfEveryAge = canSeeEverything(caller) || (access.age_limit === null && !access.hide_unrated_roms)
  return [...(isOfEveryAge ? [null] : []), { id: NO_USER_ID, access }]
}

/** True if the log of changes names every ROM that enters, leaves or moves, except by hidden ROMs and main siblings. */
const isUpdatable = (query: ListPart, kinds: readonly VersionKind[]) =>
  kinds.every((kind) => kind === 'shown') && !containsHash(query.search_term ?? '')

/** A list, a caller whose ROMs it has, and its order. */
interface ListOfCaller { list: CachedList, caller: AnyCaller, order: Order }

/** Reads a whole list. @param ids the only ROMs that it can contain, if they are known and few */
async function readList (
  reads: LongReads, { list: { condition }, caller, order }: ListOfCaller, ids: Int32Array | null = null
): Promise<UpdatableList> {
  const at = Date.now()
  const isListed = ids === null ? condition(caller, false) : allOf([isOneOf([...ids]), condition(caller, true)])
  const list = await selectListIndex(reads, { userId: caller?.id ?? null, order }, isListed)
  const hasOwnList = caller !== null && caller.id !== NO_USER_ID
  return { ...list, at, own: hasOwnList ? null : new Set(), isOfGroup: caller !== null }
}

interface ListCacheParts {
  longReads: LongReads
  shortReads: LongReads
  /** The providers by whose matches ROMs are grouped. */
  identifying: readonly string[]
}

/** Caches lists in a worker: the ids of all ROMs in order, and their filter values. */
export function createListCache ({ longReads, shortReads, identifying }: ListCacheParts) {
  const indexes = createLibraryCache<UpdatableList>({ maxBytes: INDEXES_MAX_BYTES, sizeOf: ({ index }) => index.bytes })
  const filterValues = createLibraryCache<CountedFilters>({
    maxBytes: FILTER_VALUES_MAX_BYTES, sizeOf: (values) => JSON.stringify(values).length
  })

  const filterValuesArguments = ({ caller, versions, query, condition }: CachedList) => [
    versions, { caller: callerKey(caller), of: listKeyOf(query), kinds: kindsOf(query, null) },
    async () => {
      const platforms = findPlatforms(query)
      return platforms === undefined
        ? { values: await selectFilterValues(longReads, caller?.id ?? null, condition(caller, false)), counts: null }
        : await selectCountedValues(longReads, caller, platforms)
    }
  ] as const

  async function update (
    list: UpdatableList | null, { query, condition }: CachedList, caller: AnyCaller, order: Order
  ): Promise<UpdatableList | null> {
    if (list === null) return null
    const isGrouped = query.group_by_meta_id === true || query.duplicate !== undefined
    return await updateList(shortReads, list, {
      userId: caller?.id ?? null, order, owner: caller === null || caller.id === NO_USER_ID ? null : caller,
      condition: condition(caller, true), groupedBy: isGrouped ? identifying : null
    })
  }

  const keyOf = ({ query, settings = [] }: CachedList, caller: AnyCaller, kinds: VersionKind[]): CacheKey =>
    ({ caller: callerKey(caller), of: [listKeyOf(query), settings], kinds })

  /**
   * Picks the ROMs that a search finds from the list without the search, because their names are stored in few blocks,
   * and what decides visibility and order is not among them. Returns null if the list must be read in another way.
   */
  async function search (list: CachedList, sharer: AnyCaller, order: Order): Promise<UpdatableList | null> {
    const pick = findPick(list)
    if (pick === null) return null
    const at = Date.now()
    const { ids: found, snapshot } = await selectIds(longReads, pick.ids)
    const isFew = found.length < FEW_ROMS
    const all = isFew
      ? await readList(longReads, { list, caller: sharer, order }, found)
      : await shareList(pick.from, sharer, order)
    // With the older snapshot, an update asks again for ROMs that changed between both statements.
    return { ...all, index: isFew ? all.index : all.index.only(found), snapshot, at }
  }

  /** Returns a list without the marks of any user. */
  const shareList = (list: CachedList, sharer: AnyCaller, order: Order): Promise<UpdatableList> =>
    indexes.get(list.versions, keyOf(list, sharer, []),
      async (former) => await update(former, list, sharer, order) ?? await search(list, sharer, order) ??
        await readList(longReads, { list, caller: sharer, order }))

  /** Computes a caller's list: from the former one, else from a shared one. */
  async function computeList (
    former: UpdatableList | null, list: CachedList, caller: NonNullable<AnyCaller>, order: Order
  ): Promise<UpdatableList> {
    const updated = await update(former, list, caller, order)
    if (updated !== null) return updated
    for (const sharer of listSharers(caller)) {
      const own = await update(await shareList(list, sharer, order), list, caller, order)
      if (own !== null) return own
    }
    return await readList(longReads, { list, caller, order })
  }

  return {
    async index (list: CachedList, order: Order): Promise<ListIndex> {
      const kinds = kindsOf(list.query, order)
      const key = keyOf(list, list.caller, kinds)
      const { caller } = list
      if (!isUpdatable(list.query, kinds)) {
        return (await indexes.get(list.versions, key, () => readList(longReads, { list, caller, order }))).index
      }
      if (caller === null) return (await shareList(list, null, order)).index
      return (await indexes.get(list.versions, key, (former) => computeList(former, list, caller, order))).index
    },

    /** True if the list is cached, or short and can be updated, or if a search picks it from a cached list. */
    isQuick (list: CachedList, order: Order): boolean {
      const kinds = kindsOf(list.query, order)
      const key = keyOf(list, list.caller, kinds)
      if (indexes.find(list.versions, key) !== null) return true
      if (!isUpdatable(list.query, kinds)) return false
      if ((indexes.findFormer(key)?.index.length ?? Infinity) < SHORT_ROMS) return true
      const pick = findPick(list)
      const [sharer = null] = list.caller === null ? [] : listSharers(list.caller)
      return pick !== null && indexes.findFormer(keyOf(pick.from, sharer, [])) !== null
    },

    filterValues: async (list: CachedList): Promise<RomFilters> =>
      (await filterValues.get(...filterValuesArguments(list))).values,

    /** Waits `FILTER_VALUES_WAIT_MS` at most. A page gets no values until they are computed; a later page gets them. */
    filterValuesSoon: async (list: CachedList): Promise<CountedFilters> =>
      await filterValues.getSoon(...filterValuesArguments(list), FILTER_VALUES_WAIT_MS) ?? NO_FILTERS
  }
}
export type ListCache = ReturnType<typeof createListCache>
