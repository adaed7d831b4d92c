// Format: https://github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md
import { ArchiveError } from '../../../../core/archives/limits.ts'

const MIN_MATCH = 4

/** Unpacks one block of at most `size` bytes; the rest of the input is padding. @throws ArchiveError */
export function unpackLz4 (packed: Buffer, size: number): Buffer {
  const output = Buffer.alloc(size)
  let at = 0
  let filled = 0
  const readLength = (start: number) => {
    let length = start
    for (let byte = start === 15 ? 255 : 0; byte === 255; length += byte) byte = packed[at++] ?? 0
    return length
  }
  while (at < packed.length && filled < size) {
    const token = packed[at++] ?? 0
    const literals = readLength(token >> 4)
    // A broken length may end after the input.
    const bytes = packed.subarray(at, at + Math.min(literals, size - filled))
    output.set(bytes, filled)
    filled += bytes.length
    at += literals
    if (at + 2 > packed.length || filled >= size) break
    const distance = packed.readUInt16LE(at)
    at += 2
    const end = Math.min(size, filled + MIN_MATCH + readLength(token & 15))
    if (distance === 0 || distance > filled) throw new ArchiveError('the packed data is broken')
    for (; filled < end; filled++) output[filled] = output[filled - distance] ?? 0
  }
  return output.subarray(0, filled)
}
