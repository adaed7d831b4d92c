// Format: https://github.com/dsnet/compress/blob/master/doc/bzip2-format.pdf
import { readSync } from 'node:fs'
import Bunzip from 'seek-bzip'
import { ArchiveError } from './limits.ts'
import type { Source } from './source.ts'

const CHUNK_BYTES = 64 * 1024

/**
 * Unpacks a bzip2 file of one or several streams, block by block. A block of 900 kB can contain 46 MB of equal bytes,
 * the most that is held at once.
 * @throws ArchiveError or TypeError on broken data.
 */
export function * unpackBzip2 (source: Source, start = 0, end = Infinity): Generator<Uint8Array> {
  const input = new FileInput(source, start, end)
  const output = new Pieces()
  const bunzip = new Bunzip(input, output)
  for (;;) {
    while (bunzip._init_block()) {
      bunzip._read_bunzip()
      yield * output.take()
    }
    if (bunzip.reader.read(32) >>> 0 !== bunzip.streamCRC) throw new ArchiveError('wrong bzip2 checksum')
    if (input.eof()) return
    bunzip._start_bunzip(input, output)
  }
}

class FileInput {
  readonly #source: Source
  readonly #chunk = Buffer.allocUnsafe(CHUNK_BYTES)
  #position: number
  readonly #limit: number
  #at = 0
  #end = 0

  constructor (source: Source, start: number, limit: number) {
    this.#source = source
    this.#position = start
    this.#limit = limit
  }

  readByte (): number {
    if (this.eof()) throw new ArchiveError('bzip2 data ends too early')
    return this.#chunk[this.#at++] ?? 0
  }

  read (buffer: Uint8Array, offset: number, length: number): number {
    let read = 0
    while (read < length && !this.eof()) buffer[offset + read++] = this.readByte()
    return read
  }

  eof (): boolean {
    if (this.#at < this.#end) return false
    const length = Math.min(CHUNK_BYTES, this.#limit - this.#position)
    this.#end = readSync(this.#source.fd, this.#chunk, 0, length, this.#position)
    this.#position += this.#end
    this.#at = 0
    return this.#end === 0
  }
}

class Pieces {
  #full: Uint8Array[] = []
  #piece = new Uint8Array(CHUNK_BYTES)
  #length = 0

  writeByte (byte: number): void {
    if (this.#length === CHUNK_BYTES) {
      this.#full.push(this.#piece)
      this.#piece = new Uint8Array(CHUNK_BYTES)
      this.#length = 0
    }
    this.#piece[this.#length++] = byte
  }

  take (): Uint8Array[] {
    const pieces = [...this.#full, this.#piece.subarray(0, this.#length)]
    this.#full = []
    this.#piece = new Uint8Array(CHUNK_BYTES)
    this.#length = 0
    return pieces
  }
}
