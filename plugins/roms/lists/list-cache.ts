import { allOf } from '../../../core/database/conditions.ts'
import { type CacheKey, createLibraryCache } from '../../library-versions/library-cache.ts'
import type { VersionKind } from '../../library-versions/version-rows.ts'
import type { LongReads } from '../../library/long-reads.ts'
import { type AnyCaller, callerKey, canSeeEverything } from '../../platforms/visibility.ts'
import { isOneOf } from '../filters/list-conditions.ts'
import type { ListRomsQuery } from '../filters/list-query.ts'
import { containsHash } from '../filters/search-conditions.ts'
import { type CachedList, findPick, keyOf, kindsOf } from './cached-list.ts'
import { selectGroups } from './grouping.ts'
import { selectIds, selectListIndex } from './list-index-rows.ts'
import type { ListIndex } from './list-index.ts'
import type { Order } from './list-order.ts'
import { type UpdatableList, updateList } from './update-list.ts'

/** Limit per worker: three lists of a million ROMs, or hundreds of usual lists. */
const INDEXES_MAX_BYTES = 64 * 1024 ** 2
/** A list of fewer ROMs is updated, or read as a whole, in some hundredths of a second. */
const SHORT_ROMS = 20_000
/** The groups of five million ROMs. */
const GROUPS_MAX_BYTES = 32 * 1024 ** 2
/** Fewer ROMs are sorted faster than they are picked from the list of all ROMs. */
const FEW_ROMS = 2_000

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
const isUpdatable = (query: ListRomsQuery, kinds: readonly VersionKind[]) =>
  kinds.every((kind) => kind === 'shown') && !containsHash(query.search_term)

const groupsKeyOf = (regionPriority: readonly string[]): CacheKey => ({ caller: callerKey(null), of: regionPriority })

/** A list, a caller whose ROMs it has, and its order. */
interface ListOfCaller { list: CachedList, caller: AnyCaller, order: Order }

/** Reads a whole list. @param ids the only ROMs that it can contain, if they are known and few */
async function readList (
  reads: LongReads, { list: { condition }, caller, order }: ListOfCaller, ids: Int32Array | null = null
): Promise<UpdatableList> {
  const at = Date.now()
  const isListed = ids === null ? condition(caller, false) : allOf([isOneOf([...ids]), condition(caller, true)])
  const { index, snapshot } = await selectListIndex(reads, { userId: caller?.id ?? null, order }, isListed)
  const hasOwnList = caller !== null && caller.id !== NO_USER_ID
  return { index, snapshots: [snapshot], at, own: hasOwnList ? null : new Set(), isOfGroup: caller !== null }
}

interface ListCacheParts {
  longReads: LongReads
  shortReads: LongReads
  /** The providers by whose matches ROMs are grouped. */
  identifying: readonly string[]
  /** The number of ROMs from which on a list is picked from a longer one, and not sorted anew. */
  fewRoms?: number
}

/** The ids of all ROMs in groups, with a 0 before each group, and when they were read. */
interface Groups extends Pick<UpdatableList, 'snapshots' | 'at'> { ids: Int32Array }

/** Returns a list with another index that depends on one more part. */
const combine = (list: UpdatableList, part: Pick<UpdatableList, 'snapshots' | 'at'>, index: ListIndex): UpdatableList =>
  ({ ...list, index, snapshots: [...list.snapshots, ...part.snapshots], at: Math.min(list.at, part.at) })

/** Caches lists in a worker: the ids of all ROMs in order. */
export function createListCache ({ longReads, shortReads, identifying, fewRoms = FEW_ROMS }: ListCacheParts) {
  const indexes = createLibraryCache<UpdatableList>({ maxBytes: INDEXES_MAX_BYTES, sizeOf: ({ index }) => index.bytes })
  const groups = createLibraryCache<Groups>({ maxBytes: GROUPS_MAX_BYTES, sizeOf: ({ ids }) => ids.byteLength })

  async function update (
    list: UpdatableList | null, { query, condition }: CachedList, caller: AnyCaller, order: Order
  ): Promise<UpdatableList | null> {
    if (list === null) return null
    const isGrouped = query.group_by_meta_id || query.duplicate !== undefined
    return await updateList(shortReads, list, {
      userId: caller?.id ?? null, order, owner: caller === null || caller.id === NO_USER_ID ? null : caller,
      condition: condition(caller, true), groupedBy: isGrouped ? identifying : null
    })
  }

  /** Sorts those of the few ROMs of a longer list that are in a list. */
  async function sortFew (list: CachedList, sharer: AnyCaller, order: Order, from: UpdatableList): Promise<UpdatableList> {
    const { snapshots, at, index } = from
    return { ...await readList(longReads, { list, caller: sharer, order }, index.toIds()), snapshots, at }
  }

  async function readGroups (regionPriority: readonly string[]): Promise<Groups> {
    const at = Date.now()
    const { ids, snapshot } = await selectIds(longReads, selectGroups(identifying, regionPriority))
    return { ids, snapshots: [snapshot], at }
  }

  /**
   * Picks the first ROM of each group from the list with all of them. The groups may be those before many changes: the
   * changed ROMs are asked again. Returns null if they are too many.
   */
  async function pickFirst (list: CachedList, sharer: AnyCaller, order: Order): Promise<UpdatableList | null> {
    const { versions, ungrouped = null, settings = [] } = list
    if (ungrouped === null) return null
    const all = await shareList(ungrouped, sharer, order)
    if (all.index.length < fewRoms) return await sortFew(list, sharer, order, all)
    const pickBy = (some: Groups) => update(combine(all, some, all.index.firstOf(some.ids)), list, sharer, order)
    const former = groups.findFormer(groupsKeyOf(settings))
    const picked = former === null ? null : await pickBy(former)
    return picked ?? await pickBy(await groups.get(versions, groupsKeyOf(settings), () => readGroups(settings)))
  }

  /**
   * Picks the ROMs of a list from a longer one, because few blocks tell which ROMs have a name, a value or a flag, and
   * what decides visibility and order is not in them. Returns null if the list must be read in another way.
   */
  async function pickList (list: CachedList, sharer: AnyCaller, order: Order): Promise<UpdatableList | null> {
    const pick = findPick(list)
    if (pick === null) return null
    const former = indexes.findFormer(keyOf(pick.from, sharer, []))
    if (former !== null && former.index.length < fewRoms) {
      return await sortFew(list, sharer, order, await shareList(pick.from, sharer, order))
    }
    const at = Date.now()
    const { ids: found, snapshot } = await selectIds(longReads, pick.ids)
    const part = { snapshots: [snapshot], at }
    if (!pick.isExcluded && found.length < fewRoms) {
      return { ...await readList(longReads, { list, caller: sharer, order }, found), ...part }
    }
    const all = await shareList(pick.from, sharer, order)
    return combine(all, part, pick.isExcluded ? all.index.without(found) : all.index.only(found))
  }

  /** Returns a list without the marks of any user. */
  const shareList = (list: CachedList, sharer: AnyCaller, order: Order): Promise<UpdatableList> =>
    indexes.get(list.versions, keyOf(list, sharer, []),
      async (former) => await update(former, list, sharer, order) ?? await pickFirst(list, sharer, order) ??
        await pickList(list, sharer, order) ?? await readList(longReads, { list, caller: sharer, order }))

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

  async function findIndex (list: CachedList, order: Order): Promise<ListIndex> {
    const kinds = kindsOf(list.query, order)
    const key = keyOf(list, list.caller, kinds)
    const { caller } = list
    if (!isUpdatable(list.query, kinds)) {
      return (await indexes.get(list.versions, key, () => readList(longReads, { list, caller, order }))).index
    }
    if (caller === null) return (await shareList(list, null, order)).index
    return (await indexes.get(list.versions, key, (former) => computeList(former, list, caller, order))).index
  }

  /** True if a list can be picked from one that is cached. */
  function isPickable (list: CachedList, sharer: AnyCaller): boolean {
    const { ungrouped = null, settings = [] } = list
    if (ungrouped !== null && groups.findFormer(groupsKeyOf(settings)) === null) return false
    const from = ungrouped ?? findPick(list)?.from ?? null
    return from !== null && (indexes.findFormer(keyOf(from, sharer, [])) !== null || isPickable(from, sharer))
  }

  return {
    index: findIndex,

    /** True if the list is cached, or short and can be updated, or a search that can be picked from a cached list. */
    isQuick (list: CachedList, order: Order): boolean {
      const kinds = kindsOf(list.query, order)
      const key = keyOf(list, list.caller, kinds)
      if (indexes.find(list.versions, key) !== null) return true
      if (!isUpdatable(list.query, kinds)) return false
      if ((indexes.findFormer(key)?.index.length ?? Infinity) < SHORT_ROMS) return true
      // A walk to a page by values is faster, because it compares columns of the rows that it reads anyway.
      if (list.query.search_term === '') return false
      const [sharer = null] = list.caller === null ? [] : listSharers(list.caller)
      return isPickable(list, sharer)
    }
  }
}
export type ListCache = ReturnType<typeof createListCache>
