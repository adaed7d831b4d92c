import { readSync } from 'node:fs'
import { ArchiveError } from './limits.ts'

const CHUNK_BYTES = 256 * 1024
/** Asked for at the end of a file, in case it has grown. */
const LEAST_BYTES = 1024

/** A file open for reading; it is closed by whoever opened it. */
export interface Source {
  readonly fd: number
  /** Bytes, when it was opened. */
  readonly size: number
}

/**
 * The bytes from `start` to `end`, in pieces that are new each time. Reading is synchronous: nothing can still be
 * reading from the descriptor once it is closed and perhaps given to another file.
 */
export function * readPieces ({ fd, size }: Source, start = 0, end = Infinity): Generator<Buffer> {
  for (let position = start; position < end;) {
    const expected = Math.max(size - position, LEAST_BYTES)
    const piece = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, end - position, expected))
    const read = readSync(fd, piece, 0, piece.length, position)
    if (read === 0) return
    position += read
    yield piece.subarray(0, read)
  }
}

/** Up to `length` bytes at `position`; fewer only at the end of the file. */
export function readUpTo (source: Source, position: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length)
  let filled = 0
  while (filled < length) {
    const read = readSync(source.fd, bytes, filled, length - filled, position + filled)
    if (read === 0) break
    filled += read
  }
  return bytes.subarray(0, filled)
}

/** @throws ArchiveError when the file ends before. */
export function readExactly (source: Source, position: number, length: number): Buffer {
  const bytes = readUpTo(source, position, length)
  if (bytes.length < length) throw new ArchiveError('it ends too early')
  return bytes
}
