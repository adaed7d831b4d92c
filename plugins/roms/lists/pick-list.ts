import { type CacheKey, createLibraryCache } from '../../library-versions/library-cache.ts'
import type { LongReads } from '../../library/long-reads.ts'
import { type AnyCaller, callerKey, canSeeEverything } from '../../platforms/visibility.ts'
import { type CachedList, type ListPick, findPick } from './cached-list.ts'
import { selectGroups } from './grouping.ts'
import { listIds, replace } from './id-set.ts'
import { type IdSets, type SetRead } from './id-sets.ts'
import { selectIds } from './list-index-rows.ts'
import type { ListIndex } from './list-index.ts'
import { type ListOfCaller, readList } from './read-list.ts'
import type { ChangedRoms, PartRead, UpdatableList } from './update-list.ts'

/** The groups of five million ROMs. */
const GROUPS_MAX_BYTES = 32 * 1024 ** 2
/** Fewer ROMs are sorted faster than they are picked from a longer list. */
const FEW_ROMS = 2_000
/** So many times more ROMs are sorted faster than a longer list that is not by name is read, as it is seldom cached. */
const OTHER_ORDERS = 10

interface PickerParts {
  longReads: LongReads
  sets: IdSets
  /** The providers by whose matches ROMs are grouped. */
  identifying: readonly string[]
  /** The number of ROMs from which on a list is picked from a longer one, and not sorted anew. */
  fewRoms?: number | undefined
  /** Returns a shared list, from the cache if possible. */
  share (list: ListOfCaller): Promise<UpdatableList>
  /** Returns a caller's list, from the cache if possible. */
  find (list: ListOfCaller): Promise<UpdatableList>
  /** Returns a shared list that is cached, although it may be out of date. */
  findFormer (list: CachedList, sharer: AnyCaller): UpdatableList | null
  /** Asks which of the ROMs that changed a list contains. Returns null if they are too many. */
  readChanged (part: PartRead, list: ListOfCaller): Promise<ChangedRoms | null>
  /** Asks again for the ROMs that changed. Returns null if they are too many. */
  update (former: UpdatableList, list: ListOfCaller): Promise<UpdatableList | null>
}

/** The ids of all ROMs in groups, with a 0 before each group. */
interface Groups extends PartRead { ids: Int32Array }

const groupsKeyOf = (regionPriority: readonly string[]): CacheKey => ({ caller: callerKey(null), of: regionPriority })

/** Returns a list with another index, which depends on one more part. */
const combine = (list: UpdatableList, part: PartRead, index: ListIndex): UpdatableList =>
  ({ ...list, index, snapshots: [...list.snapshots, ...part.snapshots], at: Math.min(list.at, part.at) })

/** Sorts those of the few ROMs of a longer list that are in a list. */
async function sortFew (
  reads: LongReads, list: ListOfCaller, { snapshots, at, index }: UpdatableList
): Promise<UpdatableList> {
  return { ...await readList(reads, list, index.toIds()), snapshots, at }
}

/** Creates the part of a worker that picks lists from longer ones. */
export function createPicker (
  { longReads, sets, identifying, fewRoms = FEW_ROMS, share, find, findFormer, readChanged, update }: PickerParts
) {
  const groups = createLibraryCache<Groups>({ maxBytes: GROUPS_MAX_BYTES, sizeOf: ({ ids }) => ids.byteLength })

  async function readGroups (regionPriority: readonly string[]): Promise<Groups> {
    const at = Date.now()
    const { ids, snapshot } = await selectIds(longReads, selectGroups(identifying, regionPriority))
    return { ids, snapshots: [snapshot], at }
  }

  /**
   * Picks the first ROM of each group from the list with all of them. The groups may be those before some changes,
   * because the changed ROMs are asked again. Returns null if they are too many.
   */
  async function pickFirst (wanted: ListOfCaller, ungrouped: CachedList): Promise<UpdatableList | null> {
    const { versions, settings = [] } = wanted.list
    const all = await share({ ...wanted, list: ungrouped })
    if (all.index.length < fewRoms) return await sortFew(longReads, wanted, all)
    const pickBy = (some: Groups) => update(combine(all, some, all.index.firstOf(some.ids)), wanted)
    const former = groups.findFormer(groupsKeyOf(settings))
    const picked = former === null ? null : await pickBy(former)
    return picked ?? await pickBy(await groups.get(versions, groupsKeyOf(settings), () => readGroups(settings)))
  }

  /** Picks the ROMs of a list by ids, of which few are sorted. */
  async function pickBySet (
    wanted: ListOfCaller, { filter, from }: ListPick, { set, ...part }: SetRead
  ): Promise<UpdatableList> {
    const isByName = wanted.list.query.order_by === ''
    const few = filter.isExcluded ? null : listIds(set, isByName ? fewRoms : fewRoms * OTHER_ORDERS)
    if (few !== null) return { ...await readList(longReads, wanted, few), ...part }
    const all = await (filter.isOwn === true ? find : share)({ ...wanted, list: from })
    return combine(all, part, filter.isExcluded ? all.index.without(set) : all.index.only(set))
  }

  /**
   * The same by the ids before some changes: asks which of the changed ROMs the list contains. Returns null if they are
   * too many.
   */
  async function pickByFormerSet (wanted: ListOfCaller, pick: ListPick): Promise<UpdatableList | null> {
    const former = sets.findFormer(pick.filter)
    if (former === null) return null
    const at = Date.now()
    const asked = await readChanged(former, wanted)
    if (asked === null) return null
    const { changed, listed, snapshot } = asked
    const selected = pick.filter.isExcluded ? changed.difference(listed) : listed
    return await pickBySet(wanted, pick, { set: replace(former.set, changed, selected), snapshots: [snapshot], at })
  }

  /** True if a list can be picked from one that is cached. */
  function isPickable (list: CachedList, sharer: AnyCaller): boolean {
    const { ungrouped = null, settings = [] } = list
    if (ungrouped !== null && groups.findFormer(groupsKeyOf(settings)) === null) return false
    const from = ungrouped ?? findPick(list)?.from ?? null
    return from !== null && (findFormer(from, sharer) !== null || isPickable(from, sharer))
  }

  return {
    /**
     * Picks the ROMs of a list from a longer one, because few blocks tell which ROMs have a name, a value or a flag,
     * and what decides visibility and order is not in them. Returns null if the list must be read in another way.
     */
    async pick (wanted: ListOfCaller): Promise<UpdatableList | null> {
      const { list, caller } = wanted
      const { ungrouped = null } = list
      if (ungrouped !== null) return await pickFirst(wanted, ungrouped)
      const pick = findPick(list)
      if (pick === null) return null
      const former = findFormer(pick.from, caller)
      if (former !== null && former.index.length < fewRoms) {
        return await sortFew(longReads, wanted, await share({ ...wanted, list: pick.from }))
      }
      if (pick.filter.isForAllSeeing === true && !canSeeEverything(caller)) return null
      return await pickByFormerSet(wanted, pick) ??
        await pickBySet(wanted, pick, await sets.read(list.versions, pick.filter))
    },

    /** Picks the ROMs of a caller's list by ids that depend on what belongs to the caller; null if by no such ids. */
    async pickOwn (wanted: ListOfCaller): Promise<UpdatableList | null> {
      const { pick = null, versions } = wanted.list
      if (pick?.filter.isOwn !== true) return null
      return await pickBySet(wanted, pick, await sets.read(versions, pick.filter))
    },

    isPickable
  }
}
