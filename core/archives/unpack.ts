import { pipeline, Readable } from 'node:stream'
import { ReadableStream } from 'node:stream/web'
import { createGunzip } from 'node:zlib'
import xzDecompress from 'xz-decompress'
import { unpackBzip2 } from './bzip2.ts'
import { ArchiveError, CancelledError, type Budget } from './limits.ts'
import { readPieces, type Source } from './source.ts'

export type Compression = 'gz' | 'bz2' | 'xz'

const CHUNK_BYTES = 256 * 1024

const UNPACKERS: Record<Compression, (source: Source) => AsyncIterable<Uint8Array> | Iterable<Uint8Array>> = {
  gz: unpackGzip,
  bz2: unpackBzip2,
  xz: unpackXz
}

/** Yields the content of a compressed file in pieces. @throws ArchiveError if it is broken or exceeds the budget. */
export async function * unpack (compression: Compression, source: Source, budget: Budget): AsyncGenerator<Uint8Array> {
  budget.restart()
  if (source.size === 0) throw new ArchiveError('it is empty')
  try {
    for await (const piece of UNPACKERS[compression](source)) {
      budget.addBytes(piece.length)
      yield piece
    }
  } catch (error) {
    throw asArchiveError(error)
  }
}

/** Yields the content of a file that is not compressed, within the budget. */
export function * readAll (source: Source, budget: Budget): Generator<Uint8Array> {
  budget.restart()
  for (const piece of readPieces(source)) {
    budget.addBytes(piece.length)
    yield piece
  }
}

/**
 * Converts an error of a library about broken data to an ArchiveError. Errors of the disk and cancelled jobs are
 * returned as they are.
 */
export function asArchiveError (error: unknown): Error {
  if (error instanceof ArchiveError || error instanceof CancelledError) return error
  if (error instanceof Error && 'syscall' in error) return error
  return new ArchiveError(error instanceof Error ? error.message : String(error), { cause: error })
}

function unpackGzip (source: Source): Readable {
  return pipeline(Readable.from(readPieces(source)), createGunzip({ chunkSize: CHUNK_BYTES }), () => {
    // Reading the returned stream throws the same error.
  })
}

function unpackXz (source: Source): AsyncIterable<Uint8Array> {
  return new xzDecompress.XzReadableStream(ReadableStream.from(readPieces(source)))
}
