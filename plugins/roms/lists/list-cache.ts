import { Value } from '@sinclair/typebox/value'
import { createLibraryCache } from '../../library-versions/library-cache.ts'
import type { VersionKind } from '../../library-versions/version-rows.ts'
import type { LongReads } from '../../library/long-reads.ts'
import { type AnyCaller, callerKey } from '../../platforms/visibility.ts'
import { ListRomsQuery } from '../filters/list-query.ts'
import { containsHash } from '../filters/search-conditions.ts'
import { type CachedList, keyOf, kindsOf } from './cached-list.ts'
import { createIdSets } from './id-sets.ts'
import type { ListIndex } from './list-index.ts'
import { ORDER_BY_NAME, type Order } from './list-order.ts'
import { createPicker } from './pick-list.ts'
import { type ListOfCaller, readList } from './read-list.ts'
import { listSharers, ownerOf } from './sharers.ts'
import { type UpdatableList, type UpdateTarget, readChanged, updateList } from './update-list.ts'

/** Limit per worker: eight lists of a million ROMs, or hundreds of usual lists. */
const INDEXES_MAX_BYTES = 64 * 1024 ** 2
/** Measured bytes of an id in a set. */
const OWN_ROM_BYTES = 40
/** A list of fewer ROMs is updated, or read as a whole, in some hundredths of a second. */
const SHORT_ROMS = 20_000

/** The key of the list of all ROMs by name, for the caller who sees all. */
const ALL_ROMS = keyOf({ query: Value.Create(ListRomsQuery) }, null, [])

/** True if the log of changes names every ROM that enters, leaves or moves, except by hidden ROMs and main siblings. */
const isUpdatable = (query: ListRomsQuery, kinds: readonly VersionKind[]) =>
  kinds.every((kind) => kind === 'shown') && !containsHash(query.search_term)

interface ListCacheParts {
  longReads: LongReads
  shortReads: LongReads
  /** The providers by whose matches ROMs are grouped. */
  identifying: readonly string[]
  /** As for `createPicker`. */
  fewRoms?: number
  maxBytes?: number
}

/** Caches lists in a worker: the ids of all ROMs in order. */
export function createListCache (
  { longReads, shortReads, identifying, fewRoms, maxBytes = INDEXES_MAX_BYTES }: ListCacheParts
) {
  const indexes = createLibraryCache<UpdatableList>({
    maxBytes,
    sizeOf: ({ index, own }) => index.bytes + (own?.size ?? 0) * OWN_ROM_BYTES,
    partsOf: ({ index }) => index.parts
  })

  function targetOf ({ list: { query, condition }, caller, order }: ListOfCaller): UpdateTarget {
    const isGrouped = query.group_by_meta_id || query.duplicate !== undefined
    return {
      userId: caller?.id ?? null, order, owner: ownerOf(caller),
      condition: condition(caller, true), groupedBy: isGrouped ? identifying : null
    }
  }

  const update = async (former: UpdatableList | null, list: ListOfCaller): Promise<UpdatableList | null> =>
    former === null ? null : await updateList(shortReads, former, targetOf(list))

  const findFormer = (list: CachedList, sharer: AnyCaller) => indexes.findFormer(keyOf(list, sharer, []))
  const sets = createIdSets(longReads)
  const picker = createPicker({
    longReads, sets, identifying, fewRoms, share: shareList, find: findList, findFormer, update,
    readChanged: (part, list) => readChanged(shortReads, part, targetOf(list))
  })

  /** Returns a list without the marks of any user. */
  async function shareList (wanted: ListOfCaller): Promise<UpdatableList> {
    const { list, caller: sharer } = wanted
    return await indexes.get(list.versions, keyOf(list, sharer, []), async (former) =>
      await update(former, wanted) ?? await reverse(wanted) ?? await picker.pick(wanted) ??
        await readList(longReads, wanted))
  }

  /** Returns a list by name in descending order, which has all ROMs of the one in ascending order; else null. */
  async function reverse (wanted: ListOfCaller): Promise<UpdatableList | null> {
    const { ascending = null } = wanted.list
    if (ascending === null) return null
    const { index, ...read } = await shareList({ ...wanted, list: ascending, order: ORDER_BY_NAME })
    return { ...read, index: index.reversed() }
  }

  /** Computes a caller's list: from the former one, else from a shared one. */
  async function computeList (former: UpdatableList | null, wanted: ListOfCaller): Promise<UpdatableList> {
    const updated = await update(former, wanted)
    if (updated !== null) return updated
    for (const sharer of listSharers(wanted.caller)) {
      const own = await update(await shareList({ ...wanted, caller: sharer }), wanted)
      if (own !== null) return own
    }
    return await readList(longReads, wanted)
  }

  async function findList (wanted: ListOfCaller): Promise<UpdatableList> {
    const { list, caller, order } = wanted
    const kinds = kindsOf(list.query, order)
    const isUpdated = isUpdatable(list.query, kinds)
    // Most lists are picked from those of all ROMs, so each request makes these the most recently used ones.
    for (const sharer of new Set([null, ...listSharers(caller)])) {
      indexes.findFormer({ ...ALL_ROMS, caller: callerKey(sharer) })
    }
    if (isUpdated && caller === null) return await shareList(wanted)
    return await indexes.get(list.versions, keyOf(list, caller, kinds), async (former) => isUpdated
      ? await computeList(former, wanted)
      : await picker.pickOwn(wanted) ?? await readList(longReads, wanted))
  }

  return {
    index: async (list: CachedList, order: Order): Promise<ListIndex> =>
      (await findList({ list, caller: list.caller, order })).index,

    /** Reads ids that filters need, so that no caller waits for them. */
    prepare: sets.readAll,

    /** True if the list is cached, or short and can be updated, or a search that can be picked from a cached list. */
    isQuick (list: CachedList, order: Order): boolean {
      const kinds = kindsOf(list.query, order)
      const key = keyOf(list, list.caller, kinds)
      if (indexes.find(list.versions, key) !== null) return true
      if (!isUpdatable(list.query, kinds)) return false
      if ((indexes.findFormer(key)?.index.length ?? Infinity) < SHORT_ROMS) return true
      // A walk to a page by values is faster, because it compares columns of the rows that it reads anyway.
      if (list.query.search_term === '') return false
      const [sharer = null] = listSharers(list.caller)
      return picker.isPickable(list, sharer)
    }
  }
}
export type ListCache = ReturnType<typeof createListCache>
