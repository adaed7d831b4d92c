import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { ArchiveError } from './limits.ts'

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants
/** A path's last part is not followed when it has become a link, and a pipe does not block. */
const OPEN_FLAGS = O_RDONLY | (O_NOFOLLOW ?? 0) | (O_NONBLOCK ?? 0)
const CHUNK_BYTES = 256 * 1024
/** Asked for at the end of a file, in case it has grown. */
const LEAST_BYTES = 1024

/** A file open for reading; it is closed by whoever opened it. */
export interface Source {
  readonly fd: number
  /** Bytes, when it was opened. */
  readonly size: number
}

export type Path = string | Uint8Array

/** Folders, pipes and devices have no content to hash. */
class NotAFileError extends Error {
  readonly code = 'EISDIR'
  readonly path: string

  constructor (path: Path) {
    super(`'${Buffer.from(path).toString()}' is not a regular file; give the path of one`)
    this.path = Buffer.from(path).toString()
  }
}

/** @throws the error of the file system, or one that says the path is of no file. */
export function openSource (path: Path): Source {
  const fd = openSync(typeof path === 'string' ? path : Buffer.from(path), OPEN_FLAGS)
  try {
    const stat = fstatSync(fd)
    if (!stat.isFile()) throw new NotAFileError(path)
    return { fd, size: stat.size }
  } catch (error) {
    closeSync(fd)
    throw error
  }
}

export function closeSource ({ fd }: Source): void {
  closeSync(fd)
}

export async function withSource<T> (path: Path, use: (source: Source) => Promise<T>): Promise<T> {
  const source = openSource(path)
  try {
    return await use(source)
  } finally {
    closeSource(source)
  }
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
