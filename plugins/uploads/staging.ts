import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, open, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { conflict } from '../../core/errors.ts'
import { requireFreeSpace } from '../../core/files/free-space.ts'
import { readPieces } from '../../core/web/unread-bodies.ts'
import type { Chunk, Upload } from './rows.ts'
import { writeAll, writePieces } from './write-pieces.ts'

/** The sizes by which an upload is cut into chunks. */
export type ChunkSizes = Pick<Upload, 'total_size' | 'total_chunks' | 'chunk_size'>
/** Receives the bytes as they arrive, and throws to stop the upload. */
export type InspectBytes = (piece: Buffer) => void

const WRITE = constants.O_WRONLY | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0)
const READ = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0)
/** The file mode before the umask, because others may share the library. */
const MODE = 0o666
const COPIED_BYTES = 1024 ** 2
/**
 * The names of staged files, which contain the id of their upload or a unique id. Scans and the watcher skip such
 * files.
 */
const STAGED = /^\.([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:\.[\w.-]+)?\.part$/

/**
 * Returns the position of a chunk in the file of its upload, if all chunks but the last have one size, as clients cut
 * them. Null for a chunk that does not fit this: it gets its own file, and only its number tells its position.
 */
export function locateChunk (
  { total_size: total, total_chunks: count, chunk_size: chunkSize }: ChunkSizes, number: number, size: number
): number | null {
  const isLast = number === count - 1
  if (number > 0 && chunkSize === null) return null
  const start = number * (chunkSize ?? 0)
  if (isLast) return start + size === total ? start : null
  return size === chunkSize && start + size < total ? start : null
}

/** A chunk, its current position in the file of the upload unless it has its own file, and its final position. */
interface LocatedChunk { chunk: Chunk, offset: number, at: number }

/** Computes the positions of chunks. @param chunkSize the size of the chunks in the file of the upload */
function locateAll (chunks: readonly Chunk[], chunkSize: number): LocatedChunk[] {
  let end = 0
  return chunks.map((chunk) => {
    const at = end
    end += chunk.size
    return { chunk, offset: chunk.number * chunkSize, at }
  })
}

/** Returns the id in the name of a staged file; null for any other file. */
export const stagedId = (name: string): string | null => STAGED.exec(name)?.[1] ?? null

/**
 * Writes a stream to a file, from this position.
 *
 * @returns false, and reads nothing, if the file has its name in the library already
 */
async function writeStream (path: string, start: number, content: Readable, inspect: InspectBytes): Promise<boolean> {
  const target = await open(path, WRITE, MODE)
  try {
    if ((await target.stat()).nlink > 1) return false
    await writePieces(target, start, readPieces(content), inspect)
    return true
  } finally {
    await target.close()
  }
}

/**
 * Copies bytes of a chunk from its current file to its final position.
 *
 * @throws ApiError CONFLICT if the chunk changed meanwhile
 */
async function copyChunk (
  path: string, target: FileHandle, { chunk: { number, size, has_own_file: hasOwnFile }, offset, at }: LocatedChunk
): Promise<void> {
  const start = hasOwnFile ? 0 : offset
  const source = await open(path, READ)
  const buffer = Buffer.allocUnsafe(Math.min(COPIED_BYTES, size))
  try {
    for (let done = 0; done < size;) {
      const { bytesRead } = await source.read(buffer, 0, Math.min(buffer.length, size - done), start + done)
      if (bytesRead === 0) throw conflict(`Chunk ${number} was sent again at the same moment; complete the upload again`)
      await writeAll(target, buffer.subarray(0, bytesRead), at + done)
      done += bytesRead
    }
  } finally {
    await source.close()
  }
}

/**
 * Creates the staging of an upload. Its files are in the folder of its target, so that one link (or one rename, on a
 * disk without hard links) publishes the result.
 */
export function createStaging (folder: string, id: string) {
  const uploadPath = join(folder, `.${id}.part`)
  const joined = join(folder, `.${id}.joined.part`)
  const chunkPath = (number: number) => join(folder, `.${id}.${number}.part`)

  /** Writes chunks to their final positions in a file. */
  async function copyAll (path: string, located: readonly LocatedChunk[]): Promise<void> {
    const target = await open(path, WRITE, MODE)
    try {
      for (const one of located) {
        await copyChunk(one.chunk.has_own_file ? chunkPath(one.chunk.number) : uploadPath, target, one)
      }
      await target.sync()
    } finally {
      await target.close()
    }
  }

  return {
    /** The two possible paths of the complete file: with chunks at their positions, and with joined chunks. */
    whole: uploadPath,
    joined,

    /**
     * Writes a chunk to its position in the file of the upload.
     *
     * @returns false, and reads nothing, if that file is published
     */
    writeToUpload: (start: number, content: Readable, inspect: InspectBytes): Promise<boolean> =>
      writeStream(uploadPath, start, content, inspect),

    /** Writes a chunk to its own file, which replaces an earlier one after all bytes arrived. */
    async writeToOwnFile (number: number, content: Readable, inspect: InspectBytes): Promise<void> {
      const path = join(folder, `.${id}.${number}.${randomUUID().slice(0, 8)}.part`)
      try {
        await writeStream(path, 0, content, inspect)
        await rename(path, chunkPath(number))
      } catch (err) {
        await rm(path, { force: true })
        throw err
      }
    },

    /**
     * Assembles the chunks, sorted by number. Usually they are already in one file.
     *
     * @param hasWrites true copies all chunks to a new file, because others still write into the file of the upload
     * @returns the path of the complete file
     */
    async assemble (
      { chunk_size: chunkSize, total_size: total }: ChunkSizes, chunks: readonly Chunk[], hasWrites: boolean
    ): Promise<string> {
      const located = locateAll(chunks, chunkSize ?? 0)
      if (!hasWrites && located.every(({ chunk, offset, at }) => chunk.has_own_file || offset === at)) {
        const separateChunks = located.filter(({ chunk }) => chunk.has_own_file)
        if (separateChunks.length > 0) await copyAll(uploadPath, separateChunks)
        return uploadPath
      }
      await rm(joined, { force: true })
      await requireFreeSpace(folder, total)
      await copyAll(joined, located)
      return joined
    },

    /** Deletes all staged files of the upload. */
    async discard (): Promise<void> {
      const names = await readdir(folder).catch(() => [])
      for (const name of names) if (stagedId(name) === id) await rm(join(folder, name), { force: true })
    }
  }
}
export type Staging = ReturnType<typeof createStaging>
