import type { Condition } from '../../../core/database/conditions.ts'
import { SNAPSHOT_AGE_MAX_MS, inSnapshot, selectChanges, selectSnapshot } from '../../library-versions/change-rows.ts'
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

/** Adds the siblings of ROMs, if they matter. */
const withSiblings = async (
  tx: LongReads, { groupedBy }: UpdateTarget, ids: Set<number>, games = new Set<string>()
): Promise<Set<number>> => groupedBy === null ? ids : await addSiblings(tx, { ids, games }, groupedBy)

/** Loads the ROMs that changed since snapshots, with their siblings if these matter; null if they are too many. */
async function selectChanged (
  tx: LongReads, snapshots: readonly string[], target: UpdateTarget
): Promise<Set<number> | null> {
  const changes = await selectChanges(tx, snapshots)
  if (changes === null || changes.ids.size > CHANGED_MAX) return null
  return await withSiblings(tx, target, changes.ids, changes.games)
}

async function update (tx: LongReads, list: UpdatableList, target: UpdateTarget): Promise<UpdatableList | null> {
  const { owner, condition } = target
  const at = Date.now()
  const snapshot = await selectSnapshot(tx)
  const changed = await selectChanged(tx, list.snapshots, target)
  const own = owner === null ? NONE : await selectOwnRoms(tx, owner, list.isOfGroup)
  if (changed === null || own === null || list.own === null) return null

  // A ROM that the list contains and that the owner of the target list sees differently keeps its position.
  const differing = (await withSiblings(tx, target, own.symmetricDifference(list.own))).difference(changed)
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
  if (Date.now() - list.at > SNAPSHOT_AGE_MAX_MS) return null
  return await inSnapshot(reads, (tx) => update(tx, list, target))
}

/** ROMs that changed, those of them that a list contains, and the snapshot in which it does. */
export interface ChangedRoms { changed: ReadonlySet<number>, listed: ReadonlySet<number>, snapshot: string }

/** Loads the ROMs that changed since a part of a list was read. Returns null if they are too many. */
export async function readChanged (
  reads: LongReads, { snapshots, at }: PartRead, target: UpdateTarget
): Promise<ChangedRoms | null> {
  if (Date.now() - at > SNAPSHOT_AGE_MAX_MS) return null
  return await inSnapshot(reads, async (tx) => {
    const snapshot = await selectSnapshot(tx)
    const changed = await selectChanged(tx, snapshots, target)
    if (changed === null || changed.size > OWN_ROMS_MAX) return null
    const listed = await selectListed(tx, target, target.condition, [...changed])
    return { changed, listed: new Set(listed.map(({ id }) => id)), snapshot }
  })
}
