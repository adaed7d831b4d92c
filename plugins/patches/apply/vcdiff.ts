import { PatchReader, type PatchRun, PatchError, Source, brokenPatch, requireNumber, wrongBase } from './files.ts'
import { CODES, type Instruction } from './vcdiff-codes.ts'

const MAGIC_BYTES = 4
const HEADER = { secondary: 1, codes: 2, application: 4 }
const WINDOW = { base: 1, result: 2, checksum: 4 }
/** The largest window, because windows are held in memory; xdelta makes them of 8 MiB, and of 64 MiB at most. */
const WINDOW_BYTES_MAX = 64 * 1024 * 1024
const NEAR = 4
const SAME = 3

/** Reads a number in the encoding of RFC 3284: seven bits a byte, the highest first. */
function readNumber (reader: PatchReader): number {
  for (let value = 0; ;) {
    const byte = reader.u8()
    value = requireNumber(value * 128 + (byte & 0x7f))
    if ((byte & 0x80) === 0) return value
  }
}

function adler32 (bytes: Uint8Array): number {
  let [a, b] = [1, 0]
  for (const byte of bytes) {
    a = (a + byte) % 65_521
    b = (b + a) % 65_521
  }
  return b * 65_536 + a
}

/** A cache of recent copy addresses, by which later ones are encoded. */
class Addresses {
  readonly #near: number[] = Array<number>(NEAR).fill(0)
  readonly #same: number[] = Array<number>(SAME * 256).fill(0)
  #next = 0

  read (reader: PatchReader, mode: number, here: number): number {
    const address = this.#decode(reader, mode, here)
    if (address < 0 || address >= here) throw brokenPatch('it copies bytes that are not written yet')
    this.#near[this.#next] = address
    this.#next = (this.#next + 1) % NEAR
    this.#same[address % (SAME * 256)] = address
    return address
  }

  #decode (reader: PatchReader, mode: number, here: number): number {
    if (mode === 0) return readNumber(reader)
    if (mode === 1) return here - readNumber(reader)
    if (mode < NEAR + 2) return (this.#near[mode - 2] ?? 0) + readNumber(reader)
    return this.#same[(mode - NEAR - 2) * 256 + reader.u8()] ?? 0
  }
}

interface Window {
  /** The source of its copies, numbered from 0. */
  segment: { source: Source, start: number, length: number }
  result: Buffer
  checksum: number | null
  data: PatchReader
  instructions: PatchReader
  addresses: PatchReader
}

function readSegment ({ patch, base, output }: PatchRun, flags: number): Window['segment'] {
  if ((flags & (WINDOW.base | WINDOW.result)) === 0) return { source: base, start: 0, length: 0 }
  const [length, start] = [readNumber(patch), readNumber(patch)]
  if ((flags & WINDOW.result) !== 0) {
    output.flush()
    if (start + length > output.length) throw brokenPatch('it copies bytes that are not written yet')
    return { source: new Source(output.fd, output.length), start, length }
  }
  if (start + length > base.size) throw wrongBase('the patch reads beyond the end of the file')
  return { source: base, start, length }
}

function readWindow (patching: PatchRun): Window {
  const { patch, output } = patching
  const flags = patch.u8()
  const segment = readSegment(patching, flags)
  readNumber(patch)
  const size = readNumber(patch)
  if (size > WINDOW_BYTES_MAX) throw new PatchError(`The patch has a window of ${size} bytes; create it again with smaller windows`)
  output.requireSize(output.length + size)
  if (patch.u8() !== 0) {
    throw new PatchError('The patch has a secondary compression, which is not supported; create it again with xdelta3 -S none')
  }
  const lengths = [readNumber(patch), readNumber(patch), readNumber(patch)] as const
  const checksum = (flags & WINDOW.checksum) === 0 ? null : patch.be(4)
  const [data, instructions, addresses] = lengths.map((length) => {
    const start = patch.position
    patch.skip(length)
    return new PatchReader(patch.source, start, start + length)
  }) as [PatchReader, PatchReader, PatchReader]
  return { segment, result: Buffer.alloc(size), checksum, data, instructions, addresses }
}

/** Copies from the segment and from the existing part of the window; the copy may overlap its own output. */
function copy ({ segment, result }: Window, address: number, filled: number, size: number): void {
  const fromSegment = Math.max(0, Math.min(size, segment.length - address))
  if (fromSegment > 0) segment.source.readAt(segment.start + address, fromSegment).copy(result, filled)
  for (let index = fromSegment; index < size; index++) {
    result[filled + index] = result[address + index - segment.length] ?? 0
  }
}

function fillWindow (window: Window): void {
  const { segment, result, data, instructions, addresses } = window
  const cache = new Addresses()
  let filled = 0

  function run ({ kind, mode }: Instruction, size: number): void {
    if (filled + size > result.length) throw brokenPatch('its result is longer than it promises')
    if (kind === 'copy') copy(window, cache.read(addresses, mode, segment.length + filled), filled, size)
    else if (kind === 'run') result.fill(data.u8(), filled, filled + size)
    else data.bytes(size).copy(result, filled)
    filled += size
  }

  while (instructions.remaining > 0) {
    for (const instruction of CODES[instructions.u8()] ?? []) {
      run(instruction, instruction.size === 0 ? readNumber(instructions) : instruction.size)
    }
  }
  if (filled !== result.length) throw brokenPatch('its result is shorter than it promises')
}

/** Format: RFC 3284, with the additions of xdelta: a checksum of each window and an own header. */
export function applyVcdiff (patching: PatchRun): boolean {
  const { patch, output } = patching
  patch.seek(MAGIC_BYTES)
  const flags = patch.u8()
  // Patches may name a secondary compressor here even if nothing uses it.
  if ((flags & HEADER.secondary) !== 0) patch.skip(1)
  if ((flags & HEADER.codes) !== 0) throw new PatchError('The patch has its own code table, which is not supported; create it again without one')
  if ((flags & HEADER.application) !== 0) patch.skip(readNumber(patch))
  let isValid = true
  while (patch.remaining > 0) {
    const window = readWindow(patching)
    fillWindow(window)
    if (window.checksum !== null && adler32(window.result) !== window.checksum) isValid = false
    output.append(window.result)
  }
  output.flush()
  return isValid
}
