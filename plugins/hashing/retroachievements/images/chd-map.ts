// Format: https://github.com/mamedev/mame/blob/master/src/lib/util/chd.cpp
import { ArchiveError } from '../../../../core/archives/limits.ts'
import { type FileReads, readExactlyAt } from './file-reads.ts'

/** The storage of a hunk: packed by one of the four codecs, unpacked, as a copy of another hunk, or in another file. */
export const STORED = 4
export const COPY = 5
const IN_PARENT = 6

const RUN = 7
const LONG_RUN = 8
const SAME_COPY = 9
const NEXT_COPY = 10
const PARENT_KINDS = 11
const CODES = 16
const MAX_CODE_BITS = 8
const MAP_HEADER_BYTES = 16
/** The most hunks. A disc of two layers in hunks of one sector has somewhat fewer. */
const MAX_HUNKS = 2 ** 22
/** The most bytes in the map for a hunk, which is far above the bits that one takes. */
const MAX_BYTES_PER_HUNK = 16

/** The position of each hunk. */
export interface HunkMap {
  readonly kinds: Uint8Array
  /** The position in the file; for a copy, the number of the original hunk. */
  readonly offsets: Float64Array
  readonly lengths: Uint32Array
}

export interface MapLocation {
  readonly offset: number
  readonly hunks: number
  readonly hunkBytes: number
  readonly isCompressed: boolean
}

/** Reads the map of a CHD. @throws ArchiveError */
export function readMap (file: FileReads, location: MapLocation): HunkMap {
  if (location.hunks > MAX_HUNKS) throw new ArchiveError(`more than ${MAX_HUNKS} hunks`)
  const map = {
    kinds: new Uint8Array(location.hunks),
    offsets: new Float64Array(location.hunks),
    lengths: new Uint32Array(location.hunks)
  }
  if (location.isCompressed) readPackedMap(file, location, map)
  else readPlainMap(file, location, map)
  return map
}

function readPlainMap (file: FileReads, { offset, hunks, hunkBytes }: MapLocation, map: HunkMap): void {
  const offsets = readExactlyAt(file, offset, hunks * 4)
  for (let hunk = 0; hunk < hunks; hunk++) {
    const at = offsets.readUInt32BE(hunk * 4)
    map.kinds[hunk] = at === 0 ? IN_PARENT : STORED
    map.offsets[hunk] = at * hunkBytes
    map.lengths[hunk] = hunkBytes
  }
}

function readPackedMap (file: FileReads, { offset, hunks, hunkBytes }: MapLocation, map: HunkMap): void {
  const header = readExactlyAt(file, offset, MAP_HEADER_BYTES)
  const packedBytes = header.readUInt32BE(0)
  if (packedBytes > MAP_HEADER_BYTES + hunks * MAX_BYTES_PER_HUNK) throw new ArchiveError('the map of the CHD is broken')
  const bits = new BitReader(readExactlyAt(file, offset + MAP_HEADER_BYTES, packedBytes))
  readKinds(bits, hunks, map)
  const [lengthBits = 0, copyBits = 0, parentBits = 0] = header.subarray(12, 15)
  let at = header.readUIntBE(4, 6)
  let copied = 0
  for (let hunk = 0; hunk < hunks; hunk++) {
    const kind = map.kinds[hunk] ?? 0
    if (kind <= STORED) {
      const length = kind === STORED ? hunkBytes : bits.read(lengthBits)
      map.offsets[hunk] = at
      map.lengths[hunk] = length
      at += length
      bits.read(16)
    } else if (kind === COPY || kind === SAME_COPY || kind === NEXT_COPY) {
      copied = kind === COPY ? bits.read(copyBits) : copied + (kind === NEXT_COPY ? 1 : 0)
      map.kinds[hunk] = COPY
      map.offsets[hunk] = copied
    } else {
      if (kind === IN_PARENT) bits.read(parentBits)
      map.kinds[hunk] = IN_PARENT
    }
  }
}

/** Reads the kinds of all hunks, which are stored in runs. */
function readKinds (bits: BitReader, hunks: number, { kinds }: HunkMap): void {
  const table = readCodes(bits)
  let last = 0
  let run = 0
  for (let hunk = 0; hunk < hunks; hunk++) {
    if (run > 0) run--
    else {
      const kind = readCode(bits, table)
      if (kind === RUN) run = 2 + readCode(bits, table)
      else if (kind === LONG_RUN) run = 18 + readCode(bits, table) * 16 + readCode(bits, table)
      else if (kind > PARENT_KINDS + 2) throw new ArchiveError('the map of the CHD is broken')
      else last = kind
    }
    kinds[hunk] = last
  }
}

/**
 * Reads Huffman codes by their lengths. After a 1 a length and its number of repetitions follow, otherwise the length
 * itself.
 */
function readCodes (bits: BitReader): Uint8Array {
  const lengths: number[] = []
  while (lengths.length < CODES) {
    const length = bits.read(4)
    const second = length === 1 ? bits.read(4) : null
    if (second === null || second === 1) lengths.push(length)
    else lengths.push(...Array<number>(bits.read(4) + 3).fill(second))
  }
  return toTable(lengths.slice(0, CODES))
}

/**
 * Makes a table from the next eight bits to their code in the high half and its length in the low half. Long codes come
 * first.
 */
function toTable (lengths: readonly number[]): Uint8Array {
  const table = new Uint8Array(1 << MAX_CODE_BITS)
  let next = 0
  for (let length = MAX_CODE_BITS; length > 0; length--) {
    for (const [code, own] of lengths.entries()) {
      if (own !== length) continue
      const shift = MAX_CODE_BITS - length
      table.fill(code << 4 | length, next << shift, (next + 1) << shift)
      next++
    }
    next >>= 1
  }
  return table
}

function readCode (bits: BitReader, table: Uint8Array): number {
  const found = table[bits.peek(MAX_CODE_BITS)] ?? 0
  if (found === 0) throw new ArchiveError('the map of the CHD is broken')
  bits.skip(found & 15)
  return found >> 4
}

/** Reads bits from the highest of each byte; zeros after the end. */
class BitReader {
  readonly #bytes: Uint8Array
  #at = 0

  constructor (bytes: Uint8Array) {
    this.#bytes = bytes
  }

  peek (count: number): number {
    let value = 0
    for (let left = count, at = this.#at; left > 0;) {
      const taken = Math.min(left, 8 - at % 8)
      const byte = this.#bytes[at >> 3] ?? 0
      value = value * 2 ** taken + ((byte >> (8 - at % 8 - taken)) & ((1 << taken) - 1))
      left -= taken
      at += taken
    }
    return value
  }

  skip (count: number): void {
    this.#at += count
  }

  read (count: number): number {
    const value = this.peek(count)
    this.#at += count
    return value
  }
}
