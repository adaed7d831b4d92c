import { type CachedPart, createLruCache } from '../../../core/lru-cache.ts'
import { CachedText, type JsonPieces } from '../../../core/web/cached-text.ts'
import { type IdSet, bitOf, toIdSet } from './id-set.ts'

/** A change of few ROMs leaves most segments as they are, with their cached texts. */
const SEGMENT_IDS = 1_024
/** The bytes of an id and its character. */
const ID_BYTES = 8
/** Measured bytes of a segment besides. */
const SEGMENT_BYTES = 2_000
/** The place of a segment in a list. */
const PLACE_BYTES = 16

/** ROMs of a list in order, with the code point of the character of each; 0 for none. Never changes. */
interface Segment {
  ids: Int32Array
  characters: Uint32Array
}

/** The most recently sent texts of the lists of this process: those of two million ROMs. */
const sentTexts = createLruCache<Segment, CachedText>({ max: 32 * 1024 ** 2, weightOf: ({ size }) => size })

/** Returns the ids of a segment as JSON, with a comma before the first one. */
function textOf (segment: Segment): CachedText {
  const known = sentTexts.get(segment)
  if (known !== undefined) return known
  const text = new CachedText(`,${segment.ids.join(',')}`, { isDigits: true })
  sentTexts.set(segment, text)
  return text
}

/** A ROM of a list, and the code point of its character. */
export interface ListedRom { id: number, character: number }
/** A ROM and its position in a list that does not contain it yet. */
export interface PlacedRom extends ListedRom { position: number }

/** Cuts a list into segments. They are copies, because a part would keep the memory of the whole. */
function * cut (ids: Int32Array, characters: Uint32Array): Generator<Segment> {
  for (let start = 0; start < ids.length; start += SEGMENT_IDS) {
    const end = start + SEGMENT_IDS
    yield { ids: ids.slice(start, end), characters: characters.slice(start, end) }
  }
}

/** A segment that is being filled. */
interface Filling extends Segment { length: number }

const startFilling = (max: number): Filling =>
  ({ ids: new Int32Array(max), characters: new Uint32Array(max), length: 0 })

/** Returns copies of the ROMs that a segment was filled with, in segments. */
const endFilling = ({ ids, characters, length }: Filling): Segment[] =>
  [...cut(ids.subarray(0, length), characters.subarray(0, length))]

/**
 * Adds those ROMs of a segment that a set has, or lacks, to another one. A loop without branches, because it runs for
 * each ROM of the library.
 */
function copySome (from: Segment, set: IdSet, isWanted: boolean, to: Filling): void {
  const unwanted = isWanted ? 0 : 1
  let { length } = to
  for (let place = 0; place < from.ids.length; place++) {
    const id = from.ids[place] ?? 0
    to.ids[length] = id
    to.characters[length] = from.characters[place] ?? 0
    length += bitOf(set, id) ^ unwanted
  }
  to.length = length
}

/** @param roms sorted by their positions, which count from the start of the segment */
function * insertInto ({ ids, characters }: Segment, roms: readonly PlacedRom[]): Generator<Segment> {
  const length = ids.length + roms.length
  const [newIds, newCharacters] = [new Int32Array(length), new Uint32Array(length)]
  let from = 0
  for (const [index, { id, character, position }] of roms.entries()) {
    newIds.set(ids.subarray(from, position), from + index)
    newCharacters.set(characters.subarray(from, position), from + index)
    newIds[position + index] = id
    newCharacters[position + index] = character
    from = position
  }
  newIds.set(ids.subarray(from), from + roms.length)
  newCharacters.set(characters.subarray(from), from + roms.length)
  yield * cut(newIds, newCharacters)
}

/** All ROMs of a list in order, with the offsets that let a client jump to a character. Lists share their segments. */
export class ListIndex {
  readonly #segments: readonly Segment[]
  /** The position of the first ROM of each segment. */
  readonly #starts: Int32Array
  #offsets: Record<string, number> | null = null
  readonly length: number
  /** Estimated memory without the segments. */
  readonly bytes: number

  private constructor (segments: readonly Segment[]) {
    this.#segments = segments
    this.#starts = new Int32Array(segments.length)
    let length = 0
    for (const [index, { ids }] of segments.entries()) {
      this.#starts[index] = length
      length += ids.length
    }
    this.length = length
    this.bytes = segments.length * PLACE_BYTES
  }

  /** The segments, which other lists may share, with their estimated memory. */
  get parts (): CachedPart[] {
    return this.#segments.map((segment) => ({ part: segment, weight: segment.ids.length * ID_BYTES + SEGMENT_BYTES }))
  }

  static of (ids: Int32Array, characters: Uint32Array): ListIndex {
    return new ListIndex([...cut(ids, characters)])
  }

  #segmentAt (position: number): number {
    let [low, high] = [0, this.#segments.length - 1]
    while (low < high) {
      const middle = (low + high + 1) >>> 1
      if ((this.#starts[middle] ?? 0) <= position) low = middle
      else high = middle - 1
    }
    return low
  }

  /** Returns the ROM at a position below the length. */
  idAt (position: number): number {
    const at = this.#segmentAt(position)
    return this.#segments[at]?.ids[position - (this.#starts[at] ?? 0)] ?? 0
  }

  slice (offset: number, limit: number): number[] {
    const end = Math.min(offset + limit, this.length)
    return Array.from({ length: Math.max(0, end - offset) }, (_, index) => this.idAt(offset + index))
  }

  /** Returns all ids in order. */
  toIds (): Int32Array {
    const ids = new Int32Array(this.length)
    for (const [index, segment] of this.#segments.entries()) ids.set(segment.ids, this.#starts[index])
    return ids
  }

  /** Returns those of these ROMs that the list contains. */
  findAll (wanted: ReadonlySet<number>): Set<number> {
    if (wanted.size === 0) return new Set()
    const set = toIdSet([...wanted])
    const found = startFilling(wanted.size + 1)
    for (const segment of this.#segments) copySome(segment, set, true, found)
    return new Set(found.ids.subarray(0, found.length))
  }

  /** Returns the list of those of its ROMs that are wanted. Segments that are wanted as a whole are shared. */
  only (wanted: IdSet): ListIndex {
    const segments: Segment[] = []
    const some = startFilling(this.length)
    const end = () => {
      segments.push(...endFilling(some))
      some.length = 0
    }
    for (const segment of this.#segments) {
      const { length } = some
      copySome(segment, wanted, true, some)
      if (some.length - length < segment.ids.length) continue
      some.length = length
      end()
      segments.push(segment)
    }
    end()
    return new ListIndex(segments)
  }

  /**
   * Returns the list without all ROMs but the first one it contains of each group.
   *
   * @param groups the ids of all ROMs in groups, with a 0 before each group
   */
  firstOf (groups: Int32Array): ListIndex {
    const listed = toIdSet(this.toIds())
    const removed = new Int32Array(groups.length)
    let [hasFirst, next] = [0, 0]
    for (let index = 0; index < groups.length; index++) {
      const id = groups[index] ?? 0
      const isListed = bitOf(listed, id)
      removed[next] = id
      next += isListed & hasFirst
      hasFirst = id === 0 ? 0 : hasFirst | isListed
    }
    return this.without(toIdSet(removed.subarray(0, next)))
  }

  /** Returns the list without some ROMs. */
  without (removed: IdSet): ListIndex {
    if (removed.length === 0) return this
    const rest = startFilling(SEGMENT_IDS)
    return new ListIndex(this.#segments.flatMap((segment) => {
      rest.length = 0
      copySome(segment, removed, false, rest)
      return rest.length === segment.ids.length ? [segment] : endFilling(rest)
    }))
  }

  /** Returns the list in the opposite order. */
  reversed (): ListIndex {
    return new ListIndex(this.#segments.toReversed().map(({ ids, characters }) =>
      ({ ids: ids.toReversed(), characters: characters.toReversed() })))
  }

  /** Returns the list with more ROMs. @param roms in the order of the list */
  with (roms: readonly PlacedRom[]): ListIndex {
    if (roms.length === 0) return this
    if (this.#segments.length === 0) {
      return ListIndex.of(Int32Array.from(roms, ({ id }) => id), Uint32Array.from(roms, ({ character }) => character))
    }
    const bySegment = Map.groupBy(roms, ({ position }) => this.#segmentAt(position))
    return new ListIndex(this.#segments.flatMap((segment, index) => {
      const inserted = bySegment.get(index)
      if (inserted === undefined) return [segment]
      const start = this.#starts[index] ?? 0
      return [...insertInto(segment, inserted.map((rom) => ({ ...rom, position: rom.position - start })))]
    }))
  }

  /** First character of the sort value → offset of its first row. */
  get offsets (): Record<string, number> {
    this.#offsets ??= this.#findOffsets()
    return this.#offsets
  }

  #findOffsets (): Record<string, number> {
    const first = new Map<number, number>()
    let [position, last] = [0, 0]
    for (const { characters } of this.#segments) {
      for (const character of characters) {
        if (character !== last && !first.has(character)) first.set(character, position)
        last = character
        position++
      }
    }
    first.delete(0)
    return Object.fromEntries([...first].map(([character, offset]) => [String.fromCodePoint(character), offset]))
  }

  /** The ids as JSON, in pieces that are deflated once. */
  get texts (): JsonPieces {
    const texts = this.#segments.map((segment, index) => {
      if (index === 0) return `[${segment.ids.join(',')}`
      return textOf(segment)
    })
    return texts.length === 0 ? ['[]'] : [...texts, ']']
  }
}
