// Format: https://github.com/jljusten/LZMA-SDK/blob/master/DOC/lzma-specification.txt
import { ArchiveError } from '../../../../core/archives/limits.ts'

/** The parameters with which the hunks of a CHD are packed. */
const LITERAL_CONTEXT_BITS = 3
const POSITION_STATES = 4

const PROBABILITY_BITS = 11
const EVEN = 1 << (PROBABILITY_BITS - 1)
const MOVE_BITS = 5
const TOP = 2 ** 24
const STATES = 12
const LITERAL_STATES = 7
const MIN_MATCH = 2
const SLOT_BITS = 6
const ALIGN_BITS = 4
const FIRST_MODELED_SLOT = 4
const FIRST_DIRECT_SLOT = 14

const probabilities = (count: number) => new Uint16Array(count).fill(EVEN)

/** Decodes bits by their adaptive probabilities. */
class RangeDecoder {
  readonly #packed: Uint8Array
  #at = 5
  #range = 0xffffffff
  #code = 0

  constructor (packed: Uint8Array) {
    this.#packed = packed
    for (let index = 1; index < 5; index++) this.#code = (this.#code * 256 + (packed[index] ?? 0)) >>> 0
  }

  bit (model: Uint16Array, index: number): number {
    const probability = model[index] ?? EVEN
    const bound = (this.#range >>> PROBABILITY_BITS) * probability
    const isSet = this.#code >= bound
    if (isSet) {
      this.#range -= bound
      this.#code -= bound
      model[index] = probability - (probability >> MOVE_BITS)
    } else {
      this.#range = bound
      model[index] = probability + (((1 << PROBABILITY_BITS) - probability) >> MOVE_BITS)
    }
    this.#normalize()
    return isSet ? 1 : 0
  }

  /** Decodes bits without a model, with 0 and 1 equally likely. */
  direct (count: number): number {
    let value = 0
    for (let left = count; left > 0; left--) {
      this.#range >>>= 1
      const isSet = this.#code >= this.#range
      if (isSet) this.#code -= this.#range
      value = value * 2 + (isSet ? 1 : 0)
      this.#normalize()
    }
    return value
  }

  /** Decodes a bit tree, the highest bit first. */
  tree (model: Uint16Array, bits: number, from = 0): number {
    let node = 1
    for (let left = bits; left > 0; left--) node = node * 2 + this.bit(model, from + node)
    return node - (1 << bits)
  }

  /** Decodes a bit tree, the lowest bit first. */
  reverseTree (model: Uint16Array, bits: number, from = 0): number {
    let node = 1
    let value = 0
    for (let index = 0; index < bits; index++) {
      const bit = this.bit(model, from + node)
      node = node * 2 + bit
      value |= bit << index
    }
    return value
  }

  #normalize (): void {
    if (this.#range >= TOP) return
    this.#range = (this.#range << 8) >>> 0
    this.#code = ((this.#code << 8) | (this.#packed[this.#at++] ?? 0)) >>> 0
  }
}

/** Decodes the lengths of repetitions. */
class LengthDecoder {
  readonly #choice = probabilities(2)
  readonly #low = probabilities(POSITION_STATES << 3)
  readonly #middle = probabilities(POSITION_STATES << 3)
  readonly #high = probabilities(1 << 8)

  read (decoder: RangeDecoder, position: number): number {
    if (decoder.bit(this.#choice, 0) === 0) return MIN_MATCH + decoder.tree(this.#low, 3, position << 3)
    if (decoder.bit(this.#choice, 1) === 0) return MIN_MATCH + 8 + decoder.tree(this.#middle, 3, position << 3)
    return MIN_MATCH + 16 + decoder.tree(this.#high, 8)
  }
}

class Decoder {
  readonly #input: RangeDecoder
  readonly #output: Buffer
  readonly #literals = probabilities(0x300 << LITERAL_CONTEXT_BITS)
  readonly #isMatch = probabilities(STATES * POSITION_STATES)
  readonly #isRepeat = probabilities(STATES)
  readonly #isRepeat0 = probabilities(STATES)
  readonly #isRepeat0Long = probabilities(STATES * POSITION_STATES)
  readonly #isRepeat1 = probabilities(STATES)
  readonly #isRepeat2 = probabilities(STATES)
  readonly #slots = probabilities(4 << SLOT_BITS)
  readonly #modeled = probabilities(1 << 7)
  readonly #align = probabilities(1 << ALIGN_BITS)
  readonly #lengths = new LengthDecoder()
  readonly #repeatLengths = new LengthDecoder()
  #distances = [0, 0, 0, 0]
  #state = 0
  #filled = 0

  constructor (packed: Uint8Array, size: number) {
    this.#input = new RangeDecoder(packed)
    this.#output = Buffer.alloc(size)
  }

  decode (): Buffer {
    while (this.#filled < this.#output.length) {
      const position = this.#filled % POSITION_STATES
      if (this.#input.bit(this.#isMatch, this.#state * POSITION_STATES + position) === 0) this.#literal()
      else if (this.#input.bit(this.#isRepeat, this.#state) === 0) this.#match(position)
      else this.#repeat(position)
    }
    return this.#output
  }

  #literal (): void {
    const before = this.#filled === 0 ? 0 : this.#output[this.#filled - 1] ?? 0
    const from = 0x300 * (before >> (8 - LITERAL_CONTEXT_BITS))
    let node = 1
    if (this.#state >= LITERAL_STATES) {
      let match = this.#byteAt(this.#distances[0] ?? 0)
      while (node < 0x100) {
        const expected = (match >> 7) & 1
        match <<= 1
        const bit = this.#input.bit(this.#literals, from + ((1 + expected) << 8) + node)
        node = node * 2 + bit
        if (bit !== expected) break
      }
    }
    while (node < 0x100) node = node * 2 + this.#input.bit(this.#literals, from + node)
    this.#output[this.#filled++] = node & 0xff
    this.#state = this.#state < 4 ? 0 : this.#state - (this.#state < 10 ? 3 : 6)
  }

  #match (position: number): void {
    const [first = 0, second = 0, third = 0] = this.#distances
    const length = this.#lengths.read(this.#input, position)
    this.#distances = [this.#distance(length), first, second, third]
    this.#state = this.#state < LITERAL_STATES ? 7 : 10
    this.#copy(length)
  }

  #repeat (position: number): void {
    const [first = 0, second = 0, third = 0, fourth = 0] = this.#distances
    const isAfterLiteral = this.#state < LITERAL_STATES
    if (this.#input.bit(this.#isRepeat0, this.#state) === 0) {
      if (this.#input.bit(this.#isRepeat0Long, this.#state * POSITION_STATES + position) === 0) {
        this.#state = isAfterLiteral ? 9 : 11
        this.#copy(1)
        return
      }
    } else if (this.#input.bit(this.#isRepeat1, this.#state) === 0) this.#distances = [second, first, third, fourth]
    else if (this.#input.bit(this.#isRepeat2, this.#state) === 0) this.#distances = [third, first, second, fourth]
    else this.#distances = [fourth, first, second, third]
    const length = this.#repeatLengths.read(this.#input, position)
    this.#state = isAfterLiteral ? 8 : 11
    this.#copy(length)
  }

  #distance (length: number): number {
    const slot = this.#input.tree(this.#slots, SLOT_BITS, Math.min(length - MIN_MATCH, 3) << SLOT_BITS)
    if (slot < FIRST_MODELED_SLOT) return slot
    const bits = (slot >> 1) - 1
    const base = (2 | (slot & 1)) * 2 ** bits
    if (slot < FIRST_DIRECT_SLOT) return base + this.#input.reverseTree(this.#modeled, bits, base - slot)
    return base + this.#input.direct(bits - ALIGN_BITS) * 2 ** ALIGN_BITS +
      this.#input.reverseTree(this.#align, ALIGN_BITS)
  }

  #copy (length: number): void {
    const distance = this.#distances[0] ?? 0
    const end = Math.min(this.#filled + length, this.#output.length)
    for (; this.#filled < end; this.#filled++) this.#output[this.#filled] = this.#byteAt(distance)
  }

  #byteAt (distance: number): number {
    if (distance >= this.#filled) throw new ArchiveError('the packed data is broken')
    return this.#output[this.#filled - 1 - distance] ?? 0
  }
}

/** Unpacks LZMA without its own header. @throws ArchiveError when it is broken. */
export function unpackLzma (packed: Uint8Array, size: number): Buffer {
  return new Decoder(packed, size).decode()
}
