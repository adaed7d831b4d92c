import { allOf } from '../../../core/database/conditions.ts'
import { createLibraryCache } from '../../library-versions/library-cache.ts'
import type { VersionKind } from '../../library-versions/version-rows.ts'
import type { LongReads } from '../../library/long-reads.ts'
import { type AnyCaller, canSeeEverything } from '../../platforms/visibility.ts'
import { isOneOf } from '../filters/list-conditions.ts'
import type { ListRomsQuery } from '../filters/list-query.ts'
import { containsHash } from '../filters/search-conditions.ts'
import { type CachedList, findPick, keyOf, kindsOf } from './cached-list.ts'
import { selectIds, selectListIndex } from './list-index-rows.ts'
import type { ListIndex } from './list-index.ts'
import type { Order } from './list-order.ts'
import { type UpdatableList, updateList } from './update-list.ts'

/** Limit per worker: three lists of a million ROMs, or hundreds of usual lists. */
const INDEXES_MAX_BYTES = 64 * 1024 ** 2
/** A list of fewer ROMs is updated, or read as a whole, in some hundredths of a second. */
const SHORT_ROMS = 20_000
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

/** Caches lists in a worker: the ids of all ROMs in order. */
export function createListCache ({ longReads, shortReads, identifying }: ListCacheParts) {
  const indexes = createLibraryCache<UpdatableList>({ maxBytes: INDEXES_MAX_BYTES, sizeOf: ({ index }) => index.bytes })

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

  /**
   * Picks the ROMs of a list from a longer one, because few blocks tell which ROMs have a name, a value or a flag, and
   * what decides visibility and order is not in them. Returns null if the list must be read in another way.
   */
  async function pickList (list: CachedList, sharer: AnyCaller, order: Order): Promise<UpdatableList | null> {
    const pick = findPick(list)
    if (pick === null) return null
    const readFew = (ids: Int32Array) => readList(longReads, { list, caller: sharer, order }, ids)
    const former = indexes.findFormer(keyOf(pick.from, sharer, []))
    if (former !== null && former.index.length < FEW_ROMS) {
      const from = await shareList(pick.from, sharer, order)
      return { ...await readFew(from.index.toIds()), snapshot: from.snapshot, at: from.at }
    }
    const at = Date.now()
    const { ids: found, snapshot } = await selectIds(longReads, pick.ids)
    // With the older snapshot, an update asks again for ROMs that changed between both statements.
    if (!pick.isExcluded && found.length < FEW_ROMS) return { ...await readFew(found), snapshot, at }
    const all = await shareList(pick.from, sharer, order)
    return { ...all, index: pick.isExcluded ? all.index.without(found) : all.index.only(found), snapshot, at }
  }

  /** Returns a list without the marks of any user. */
  const shareList = (list: CachedList, sharer: AnyCaller, order: Order): Promise<UpdatableList> =>
    indexes.get(list.versions, keyOf(list, sharer, []),
      async (former) => await update(former, list, sharer, order) ?? await pickList(list, sharer, order) ??
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
    const pick = findPick(list)
    return pick !== null &&
      (indexes.findFormer(keyOf(pick.from, sharer, [])) !== null || isPickable(pick.from, sharer))
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
