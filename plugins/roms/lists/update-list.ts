import type { Condition } from '../../../core/database/conditions.ts'
import { inSnapshot, selectChanges, selectSnapshot } from '../../library-versions/change-rows.ts'
import type { LongReads } from '../../library/long-reads.ts'
import type { AnyCaller } from '../../platforms/visibility.ts'
import { OWN_ROMS_MAX, addSiblings, selectOwnRoms } from './difference-rows.ts'
import { toIdSet } from './id-set.ts'
import { type ListSource, selectListed, sortRoms } from './list-index-rows.ts'
import type { ListIndex } from './list-index.ts'
import { placeRoms } from './place-roms.ts'

/** Beyond these numbers, a list is read as a whole in less time. */
const CHANGED_MAX = 1_000
const PLACED_MAX = 2_000
/** The log of changes is deleted after a day. */
const AGE_MAX_MS = 12 * 3_600_000

/** When something was read from the library. */
export interface PartRead {
  /** The snapshots of the statements that read it. It may lack a change after any of them. */
  snapshots: readonly string[]
  /** Time of the first of them by the clock of `Date.now`, which goes on while the machine sleeps. */
  at: number
}

/** A list that can be updated by the ROMs that changed since its snapshots. */
export interface UpdatableList extends PartRead {
  index: ListIndex
  /**
   * The ROMs that the user of the list sees or ranks differently from other users with the same age limit; null if too
   * many.
   */
  own: ReadonlySet<number> | null
  /** True if the list holds what a group with one age limit sees; false if it holds all ROMs except those in `own`. */
  isOfGroup: boolean
}

/** The list that an update leads to. */
export interface UpdateTarget extends ListSource {
  /** The user whose hidden ROMs and main siblings matter; null for none. */
  owner: AnyCaller
  /** The condition of the list, for few ROMs. */
  condition: Condition
  /** The providers by whose matches ROMs are grouped; null if siblings do not matter. */
  groupedBy: readonly string[] | null
}

const NONE: ReadonlySet<number> = new Set()

async function update (tx: LongReads, list: UpdatableList, target: UpdateTarget): Promise<UpdatableList | null> {
  const { owner, condition, groupedBy } = target
  const at = Date.now()
  const snapshot = await selectSnapshot(tx)
  const changes = await selectChanges(tx, list.snapshots)
  const own = owner === null ? NONE : await selectOwnRoms(tx, owner, list.isOfGroup)
  if (changes === null || changes.ids.size > CHANGED_MAX || own === null || list.own === null) return null

  const withSiblings = async (ids: Set<number>, games = new Set<string>()) =>
    groupedBy === null ? ids : await addSiblings(tx, { ids, games }, groupedBy)
  const changed = await withSiblings(changes.ids, changes.games)
  // A ROM that the list contains and that the owner of the target list sees differently keeps its position.
  const differing = (await withSiblings(own.symmetricDifference(list.own))).difference(changed)
  if (changed.size + differing.size > OWN_ROMS_MAX) return null
  const listed = await selectListed(tx, target, condition, [...changed, ...differing])
  const listedIds = new Set(listed.map(({ id }) => id))
  const staying = list.index.findAll(differing.intersection(listedIds))
  const rest = list.index.without(toIdSet([...changed.union(differing).difference(staying)]))
  const entering = listed.filter(({ id }) => !staying.has(id))
  const placed = entering.length > PLACED_MAX
    ? null
    : await placeRoms(rest, entering, (ids) => sortRoms(tx, target, ids))
  return placed === null ? null : { ...list, index: rest.with(placed), snapshots: [snapshot], at, own }
}

/**
 * Updates a list by the ROMs that changed since its snapshots, and by ROMs that the owner of the target list sees
 * differently. The latter keep their position if they stay in the list. Asks the database about these ROMs alone.
 * Returns null if they are too many.
 */
export async function updateList (
  reads: LongReads, list: UpdatableList, target: UpdateTarget
): Promise<UpdatableList | null> {
  if (Date.now() - list.at > AGE_MAX_MS) return null
  return await inSnapshot(reads, (tx) => update(tx, list, target))
}
