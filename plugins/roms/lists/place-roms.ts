import type { ListIndex, ListedRom, PlacedRom } from './list-index.ts'

/** ROMs that one statement sorts, if possible. */
const SORTED_ROMS = 4_096
const [PROBES_MIN, PROBES_MAX] = [4, 64]

/** The positions that a ROM may have: any of them, the last one included. */
interface Range { low: number, high: number }

/** Returns some positions of ROMs within a range, evenly spaced. */
function probe ({ low, high }: Range, most: number): number[] {
  const count = Math.min(most, high - low)
  return Array.from({ length: count }, (_, index) => low + Math.floor((index + 0.5) * (high - low) / count))
}

/** Narrows the ranges of ROMs by their places among ROMs with known positions; null if the list has another order. */
function narrow (
  sorted: readonly number[], ranges: ReadonlyMap<number, Range>, positions: ReadonlyMap<number, number>
): Map<number, Range> | null {
  if (sorted.length < ranges.size + positions.size) return null
  const narrowed = new Map(ranges)
  let waiting: Range[] = []
  let before = -1
  for (const id of sorted) {
    const position = positions.get(id)
    const range = ranges.get(id)
    if (range !== undefined) {
      const next = { low: Math.max(range.low, before + 1), high: range.high }
      narrowed.set(id, next)
      waiting.push(next)
    } else if (position !== undefined) {
      if (position <= before) return null
      for (const one of waiting) one.high = Math.min(one.high, position)
      waiting = []
      before = position
    }
  }
  return [...narrowed.values()].every(({ low, high }) => low <= high) ? narrowed : null
}

/**
 * Finds the positions of ROMs in a list that does not contain them, by a search in which the database sorts them with
 * some ROMs of the list. Returns null if the list does not have the order of the database.
 *
 * @param roms in the order of the list
 * @param sort sorts ids as the list is sorted
 */
export async function placeRoms (
  index: ListIndex, roms: readonly ListedRom[], sort: (ids: readonly number[]) => Promise<number[]>
): Promise<PlacedRom[] | null> {
  const most = Math.min(PROBES_MAX, Math.max(PROBES_MIN, Math.floor(SORTED_ROMS / Math.max(1, roms.length))))
  let ranges: Map<number, Range> | null = new Map(roms.map(({ id }) => [id, { low: 0, high: index.length }]))
  for (;;) {
    const open = [...ranges.values()].filter(({ low, high }) => low < high)
    if (open.length === 0) break
    const probed = open.flatMap((range) => probe(range, most))
    const positions = new Map(probed.map((position) => [index.idAt(position), position]))
    ranges = narrow(await sort([...ranges.keys(), ...positions.keys()]), ranges, positions)
    if (ranges === null) return null
  }
  return roms.map((rom) => ({ ...rom, position: ranges.get(rom.id)?.low ?? 0 }))
}
