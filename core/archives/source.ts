import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { ArchiveError } from './limits.ts'

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants
/** Does not follow a path whose last part has become a link, and does not block on a pipe. */
const OPEN_FLAGS = O_RDONLY | (O_NOFOLLOW ?? 0) | (O_NONBLOCK ?? 0)
const CHUNK_BYTES = 256 * 1024
/** The least bytes requested at the end of a file, in case it has grown. */
const LEAST_BYTES = 1024

/** A file open for reading; the function that opened it also closes it. */
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

/** Opens a file for reading. @throws the error of the file system, or an error if the path is not of a regular file. */
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
 * Yields the bytes from `start` to `end`, in a new buffer for each piece. Reading is synchronous, because no read may
 * still run when the descriptor is closed and perhaps reused for another file.
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

/** Returns up to `length` bytes at `position`; fewer only at the end of the file. */
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

/** Returns `length` bytes at `position`. @throws ArchiveError if the file ends before. */
export function readExactly (source: Source, position: number, length: number): Buffer {
  const bytes = readUpTo(source, position, length)
  if (bytes.length < length) throw new ArchiveError('it ends too early')
  return bytes
}
