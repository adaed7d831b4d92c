import { SNAPSHOT_AGE_MAX_MS, inSnapshot, selectChanges, selectSnapshot } from '../library-versions/change-rows.ts'
import type { LongReads } from '../library/long-reads.ts'
import type { AnyCaller } from '../platforms/visibility.ts'
import type { Addresses } from '../resources/addresses.ts'
import type { VirtualCollection } from '../roms/virtual-collections.ts'
import { type CoverAddresses, locateCover } from './views.ts'
import {
  COVERS_MAX, type VirtualCount, countVirtual, sampleCoverIds, selectCollectionsOf, selectCoverIds, selectCoversOf
} from './virtual-rows.ts'

/** After more changes, an index is read as a whole in less time. */
const CHANGED_MAX = 1_000

/** The virtual collections that a caller sees, with covers of some of their ROMs. */
export interface VirtualIndex {
  snapshot: string
  /** Time by the clock of `Date.now`, which goes on while the machine sleeps. */
  at: number
  /** The collections by name. */
  counts: readonly VirtualCount[]
  /** Ids of ROMs with covers, by collection. Empty only if no ROM of the collection has one. */
  coverIds: ReadonlyMap<string, readonly number[]>
  /** Addresses of the covers by ROM, because each has a signature, which takes time. */
  covers: ReadonlyMap<number, CoverAddresses>
}

/** A caller, and the way in which addresses are made. */
export interface VirtualViewer { caller: AnyCaller, addresses: Addresses }

export const keyOf = ({ type, name }: VirtualCollection): string => `${type}:${name}`

type CoverIds = Map<string, Set<number>>

/** An index whose covers are not complete. */
interface Draft extends Pick<VirtualIndex, 'snapshot' | 'at' | 'counts'> {
  /** Known ROMs with covers; the index is searched for those of other collections. */
  known: CoverIds
  /** Covers that have not changed. */
  covers: ReadonlyMap<number, CoverAddresses>
}

/** Loads covers, by ROM. */
export async function loadCovers (
  reads: LongReads, romIds: readonly number[], addresses: Addresses
): Promise<Map<number, CoverAddresses>> {
  const rows = romIds.length === 0 ? [] : await selectCoversOf(reads, romIds)
  return new Map(rows.map((row) => [row.id, locateCover(row, 0, addresses)]))
}

async function complete (
  tx: LongReads, { caller, addresses }: VirtualViewer, { known, covers, counts, ...rest }: Draft
): Promise<VirtualIndex> {
  const found = await selectCoverIds(tx, caller, counts.filter((one) => !known.has(keyOf(one))))
  const searched = new Map(found.map((one) => [keyOf(one), one.ids]))
  const coverIds = new Map(counts.map(keyOf).map((key) => [key, [...known.get(key) ?? searched.get(key) ?? []]]))
  const ids = [...new Set([...coverIds.values()].flat())]
  const loaded = await loadCovers(tx, ids.filter((id) => !covers.has(id)), addresses)
  return {
    ...rest, counts, coverIds, covers: new Map(ids.flatMap((id) => {
      const cover = covers.get(id) ?? loaded.get(id)
      return cover === undefined ? [] : [[id, cover]]
    }))
  }
}

async function readWhole (tx: LongReads, viewer: VirtualViewer): Promise<VirtualIndex> {
  const { caller } = viewer
  const at = Date.now()
  const snapshot = await selectSnapshot(tx)
  const counts = await countVirtual(tx, caller)
  const { found, isWhole } = await sampleCoverIds(tx, caller)
  const sampled = new Map(found.map((one) => [keyOf(one), new Set(one.ids)]))
  const known: CoverIds = new Map(counts.flatMap((one) => {
    const ids = sampled.get(keyOf(one)) ?? new Set()
    return isWhole || ids.size === COVERS_MAX ? [[keyOf(one), ids]] : []
  }))
  return await complete(tx, viewer, { snapshot, at, counts, known, covers: new Map() })
}

async function update (tx: LongReads, former: VirtualIndex, viewer: VirtualViewer): Promise<VirtualIndex | null> {
  const { caller } = viewer
  const at = Date.now()
  const snapshot = await selectSnapshot(tx)
  const changes = await selectChanges(tx, [former.snapshot])
  if (changes === null || changes.ids.size > CHANGED_MAX) return null
  const entering = await selectCollectionsOf(tx, caller, [...changes.ids])
  const isEntering = new Set(entering.map((one) => `${one.ids} ${keyOf(one)}`))
  const known: CoverIds = new Map()
  for (const [key, ids] of former.coverIds) {
    const staying = ids.filter((id) => !changes.ids.has(id) || isEntering.has(`${id} ${key}`))
    if (staying.length > 0 || ids.length === 0) known.set(key, new Set(staying))
  }
  for (const one of entering) {
    const ids = known.get(keyOf(one))
    if (ids !== undefined && ids.size < COVERS_MAX) ids.add(one.ids)
  }
  const covers = new Map([...former.covers].filter(([id]) => !changes.ids.has(id)))
  return await complete(tx, viewer, { snapshot, at, counts: await countVirtual(tx, caller), known, covers })
}

/** Reads the virtual collections from the stored counts, and searches covers of each. */
export const readIndex = (reads: LongReads, viewer: VirtualViewer): Promise<VirtualIndex> =>
  inSnapshot(reads, (tx) => readWhole(tx, viewer))

/** Updates an index by the ROMs that changed since its snapshot; null if they are too many. */
export async function updateIndex (
  reads: LongReads, former: VirtualIndex, viewer: VirtualViewer
): Promise<VirtualIndex | null> {
  if (Date.now() - former.at > SNAPSHOT_AGE_MAX_MS) return null
  return await inSnapshot(reads, (tx) => update(tx, former, viewer))
}
