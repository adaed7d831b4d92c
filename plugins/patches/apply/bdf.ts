import { ArchiveError } from '../../../core/archives/limits.ts'
import { unpackBzip2 } from '../../../core/archives/bzip2.ts'
import { type PatchReader, type PatchRun, brokenPatch, requireNumber } from './files.ts'

const HEADER_BYTES = 32
const STEP_BYTES = 24
const SIGN = 2 ** 31

/** Reads eight bytes, whose highest bit is the sign. */
function readNumber (bytes: Buffer, at: number): number {
  const high = bytes.readUInt32LE(at + 4)
  const value = requireNumber((high % SIGN) * 2 ** 32 + bytes.readUInt32LE(at))
  return high >= SIGN ? -value : value
}

/** A packed part of a patch. */
class PackedPart {
  readonly #unpacked: Iterator<Uint8Array>
  #piece: Uint8Array = new Uint8Array()

  constructor (patch: PatchReader, start: number, end: number) {
    if (start > end || end > patch.source.size) throw brokenPatch('it is too short')
    this.#unpacked = unpackBzip2(patch.source, start, end)
  }

  /** True if the part has no more bytes. */
  isEmpty (): boolean {
    while (this.#piece.length === 0) {
      const next = this.#unpacked.next()
      if (next.done === true) return true
      this.#piece = next.value
    }
    return false
  }

  * pieces (length: number): Generator<Uint8Array> {
    for (let remaining = length; remaining > 0;) {
      if (this.isEmpty()) throw brokenPatch('it ends too early')
      const chunk = this.#piece.subarray(0, remaining)
      this.#piece = this.#piece.subarray(chunk.length)
      remaining -= chunk.length
      yield chunk
    }
  }
}

/** Adds bytes to those of the base, with zeros outside of the base. */
function sum ({ base }: PatchRun, at: number, added: Uint8Array): Buffer {
  const start = Math.max(0, at)
  const old = base.readAt(start, Math.max(0, at + added.length - start))
  const result = Buffer.from(added)
  for (const [index, byte] of old.entries()) result[start - at + index] = (result[start - at + index] ?? 0) + byte
  return result
}

function apply (patching: PatchRun): boolean {
  const { patch, output } = patching
  const header = patch.bytes(HEADER_BYTES)
  const [stepBytes, diffBytes, size] = [readNumber(header, 8), readNumber(header, 16), readNumber(header, 24)]
  if (stepBytes < 0 || diffBytes < 0 || size < 0) throw brokenPatch('it contains a negative length')
  output.requireSize(size)
  const diffStart = HEADER_BYTES + stepBytes
  const steps = new PackedPart(patch, HEADER_BYTES, diffStart)
  const diffs = new PackedPart(patch, diffStart, diffStart + diffBytes)
  const extras = new PackedPart(patch, diffStart + diffBytes, patch.source.size)
  let at = 0
  while (output.length < size) {
    const step = Buffer.concat([...steps.pieces(STEP_BYTES)])
    const [added, fresh, jump] = [readNumber(step, 0), readNumber(step, 8), readNumber(step, 16)]
    if (added < 0 || fresh < 0 || output.length + added + fresh > size) throw brokenPatch('its result is longer than it promises')
    for (const piece of diffs.pieces(added)) {
      output.append(sum(patching, at, piece))
      at += piece.length
    }
    for (const piece of extras.pieces(fresh)) output.append(piece)
    at = requireNumber(at + jump)
  }
  output.flush()
  return true
}

/** Format: https://www.daemonology.net/bsdiff/, which holds no checksum of either file. */
export function applyBdf (patching: PatchRun): boolean {
  try {
    return apply(patching)
  } catch (err) {
    // Convert the decoder's own errors, because only a broken patch causes them.
    if (err instanceof ArchiveError || err instanceof TypeError) throw brokenPatch(err.message)
    throw err
  }
}
