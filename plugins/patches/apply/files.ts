import { type Hash, createHash } from 'node:crypto'
import { ftruncateSync, readSync, writeSync } from 'node:fs'
import { crc32 } from 'node:zlib'

const CHUNK_BYTES = 64 * 1024

/** A patch that cannot be applied; the message tells a person why. */
export class PatchError extends Error {
  override readonly name = 'PatchError'
}

/** The disk has no room for the patched file. */
export class NoRoomError extends Error {
  override readonly name = 'NoRoomError'
}

export const brokenPatch = (why: string) => new PatchError(`The patch is broken: ${why}; download it again`)
export const wrongBase = (why: string) => new PatchError(`The file is not the one that the patch was made for: ${why}`)

/** An open file with random access. */
export class Source {
  readonly fd: number
  readonly size: number

  constructor (fd: number, size: number) {
    this.fd = fd
    this.size = size
  }

  /** Reads up to `length` bytes, as many as the file has. */
  readAt (position: number, length: number): Buffer {
    const buffer = Buffer.allocUnsafe(Math.max(0, Math.min(length, this.size - position)))
    let filled = 0
    while (filled < buffer.length) {
      const read = readSync(this.fd, buffer, filled, buffer.length - filled, position + filled)
      if (read === 0) throw new PatchError('A file became shorter while it was read; try again')
      filled += read
    }
    return buffer
  }

  /** Returns the pieces of a part of the file. */
  * pieces (start = 0, end = this.size): Generator<Buffer> {
    for (let at = start; at < end; at += CHUNK_BYTES) yield this.readAt(at, Math.min(CHUNK_BYTES, end - at))
  }

  crc32 (end = this.size): number {
    let crc = 0
    for (const piece of this.pieces(0, end)) crc = crc32(piece, crc)
    return crc
  }

  md5 (): string {
    const hash: Hash = createHash('md5')
    for (const piece of this.pieces()) hash.update(piece)
    return hash.digest('hex')
  }
}

/** A patch, read from its beginning. A patch that is shorter than it promises is broken. */
export class PatchReader {
  readonly source: Source
  #at: number
  #end: number
  #chunk: Buffer = Buffer.alloc(0)
  #chunkStart = 0

  constructor (source: Source, start = 0, end = source.size) {
    this.source = source
    this.#at = start
    this.#end = end
  }

  get position (): number { return this.#at }
  get remaining (): number { return this.#end - this.#at }

  /** Sets the end of the reading. */
  endAt (end: number): void {
    if (end < this.#at || end > this.source.size) throw brokenPatch('it is too short')
    this.#end = end
  }

  seek (position: number): void {
    if (position < 0 || position > this.#end) throw brokenPatch('it is too short')
    this.#at = position
  }

  skip (length: number): void { this.seek(this.#at + length) }

  /** Reads a small part; long ones come in {@link pieces}. */
  bytes (length: number): Buffer {
    if (length > this.remaining) throw brokenPatch('it ends too early')
    const offset = this.#at - this.#chunkStart
    if (offset < 0 || offset + length > this.#chunk.length) {
      this.#chunk = this.source.readAt(this.#at, Math.max(length, CHUNK_BYTES))
      this.#chunkStart = this.#at
    }
    const start = this.#at - this.#chunkStart
    this.#at += length
    return this.#chunk.subarray(start, start + length)
  }

  * pieces (length: number): Generator<Buffer> {
    if (length > this.remaining) throw brokenPatch('it ends too early')
    for (let remaining = length; remaining > 0;) {
      const size = Math.min(remaining, CHUNK_BYTES)
      yield this.bytes(size)
      remaining -= size
    }
  }

  u8 (): number { return this.bytes(1)[0] ?? 0 }
  be (length: number): number { return this.bytes(length).readUIntBE(0, length) }
  le (length: number): number { return this.bytes(length).readUIntLE(0, length) }

  /** Reads a number of any length in the encoding of BPS and UPS. */
  vlv (): number {
    let value = 0
    for (let unit = 1; ; unit *= 128) {
      const byte = this.u8()
      value += (byte & 0x7f) * unit
      if ((byte & 0x80) !== 0) return requireNumber(value)
      value += unit * 128
      requireNumber(value)
    }
  }
}

export function requireNumber (value: number): number {
  if (!Number.isSafeInteger(value)) throw brokenPatch('it contains a number that is too large')
  return value
}

/** The patched file. */
export class Output {
  readonly fd: number
  readonly #maxBytes: number
  readonly #roomBytes: number
  readonly #pending = Buffer.allocUnsafe(CHUNK_BYTES)
  #filled = 0
  /** The number of appended bytes that are on disk. */
  #flushed = 0

  /** @param roomBytes the free space on its disk */
  constructor (fd: number, maxBytes: number, roomBytes: number) {
    this.fd = fd
    this.#maxBytes = maxBytes
    this.#roomBytes = roomBytes
  }

  /** The end of the appended bytes. */
  get length (): number { return this.#flushed + this.#filled }

  /**
   * Checks a size. @throws PatchError if the patched file would exceed the limit, NoRoomError if it would exceed the
   * disk
   */
  requireSize (size: number): void {
    if (size > this.#maxBytes) {
      throw new PatchError(`The patched file would have ${size} bytes; ${this.#maxBytes} are allowed. ` +
        'Raise ROM_PATCHER_MAX_FILE_SIZE_BYTES')
    }
    if (size > this.#roomBytes) throw new NoRoomError()
  }

  append (bytes: Uint8Array): void {
    this.requireSize(this.length + bytes.length)
    if (this.#filled + bytes.length > CHUNK_BYTES) this.flush()
    if (bytes.length >= CHUNK_BYTES) {
      this.writeAt(this.#flushed, bytes)
      this.#flushed += bytes.length
    } else {
      this.#pending.set(bytes, this.#filled)
      this.#filled += bytes.length
    }
  }

  flush (): void {
    this.writeAt(this.#flushed, this.#pending.subarray(0, this.#filled))
    this.#flushed += this.#filled
    this.#filled = 0
  }

  /** Reads bytes that were appended before. */
  readBack (position: number, length: number): Buffer {
    if (position + length > this.#flushed) this.flush()
    return new Source(this.fd, this.#flushed).readAt(position, length)
  }

  /** Appends bytes from an earlier position; the copy may overlap its own output. */
  repeat (position: number, length: number): void {
    const distance = this.length - position
    for (let remaining = length, at = position; remaining > 0;) {
      const seed = this.readBack(at, Math.min(distance, CHUNK_BYTES, remaining))
      // A short pattern that repeats is read only once.
      const times = seed.length === distance ? Math.ceil(Math.min(remaining, CHUNK_BYTES) / distance) : 1
      const piece = times === 1 ? seed : Buffer.concat(Array<Buffer>(times).fill(seed))
      const chunk = piece.subarray(0, Math.min(piece.length, remaining))
      this.append(chunk)
      remaining -= chunk.length
      at += chunk.length
    }
  }

  writeAt (position: number, bytes: Uint8Array): void {
    this.requireSize(position + bytes.length)
    for (let written = 0; written < bytes.length;) {
      written += writeSync(this.fd, bytes, written, bytes.length - written, position + written)
    }
  }

  truncate (size: number): void {
    this.requireSize(size)
    ftruncateSync(this.fd, size)
  }

  /** Starts with the base, cut to the size or filled up with zeros. */
  copyBase (base: Source, size = base.size): void {
    this.requireSize(size)
    for (const piece of base.pieces(0, Math.min(base.size, size))) this.append(piece)
    this.flush()
    this.truncate(size)
  }
}

/** The files of a patch run. */
export interface PatchRun { patch: PatchReader, base: Source, output: Output }

/** Makes the output. @returns true if the patch was made for this base, as far as the patch tells */
export type Apply = (patching: PatchRun) => boolean

/** Returns the exclusive or of bytes and a mask. */
export function xor (bytes: Uint8Array, mask: Uint8Array): Buffer {
  const result = Buffer.from(mask)
  for (const [index, byte] of bytes.entries()) result[index] = (result[index] ?? 0) ^ byte
  return result
}
