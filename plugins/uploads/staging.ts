import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, open, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { conflict } from '../../core/errors.ts'
import { requireFreeSpace } from '../../core/files/free-space.ts'
import type { Chunk, Upload } from './rows.ts'

/** What chunks are cut of. */
export type Cut = Pick<Upload, 'total_size' | 'total_chunks' | 'chunk_size'>
/** Is shown what arrives, and throws when it is not to go on. */
export type Look = (piece: Buffer) => void

const WRITE = constants.O_WRONLY | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0)
const READ = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0)
/** What the umask leaves of it: others may share the library. */
const MODE = 0o666
const COPIED_BYTES = 1024 ** 2
/** What is staged has the id of its upload in its name, or one of its own; scans and the watcher leave it out. */
const STAGED = /^\.([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:\.[\w.-]+)?\.part$/

/**
 * Where a chunk lies in the file of its upload if all chunks but the last are of one size, as clients cut them. Null
 * for one that does not fit in with that: it is kept apart, and nothing but its number says what it follows.
 */
export function locateChunk (
  { total_size: total, total_chunks: count, chunk_size: each }: Cut, number: number, size: number
): number | null {
  const isLast = number === count - 1
  if (number > 0 && each === null) return null
  const start = number * (each ?? 0)
  if (isLast) return start + size === total ? start : null
  return size === each && start + size < total ? start : null
}

/** A chunk, where it lies in the file of the upload unless it is apart, and where it belongs. */
interface LocatedChunk { chunk: Chunk, lies: number, at: number }

/** @param each the size that those have which are not apart */
function locateAll (chunks: readonly Chunk[], each: number): LocatedChunk[] {
  let end = 0
  return chunks.map((chunk) => {
    const at = end
    end += chunk.size
    return { chunk, lies: chunk.number * each, at }
  })
}

async function writeAll (target: FileHandle, bytes: Buffer, at: number): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    done += (await target.write(bytes, done, bytes.length - done, at + done)).bytesWritten
  }
}

/** The id in the name of what is staged; null for any other file. */
export const stagedId = (name: string): string | null => STAGED.exec(name)?.[1] ?? null

/** Where the parts of an upload lie until it is complete: beside its target, so that one rename brings it there. */
export function createStaging (folder: string, id: string) {
  const whole = join(folder, `.${id}.part`)
  const joined = join(folder, `.${id}.joined.part`)
  const apart = (number: number) => join(folder, `.${id}.${number}.part`)

  async function write (path: string, start: number, content: Readable, look: Look): Promise<void> {
    const handle = await open(path, WRITE, MODE)
    async function * seen (): AsyncGenerator<Buffer> {
      for await (const piece of content as AsyncIterable<Buffer>) {
        look(piece)
        yield piece
      }
    }
    await pipeline(seen, handle.createWriteStream({ start, flush: true }))
  }

  /**
   * @param lies where the chunk begins in the file that it is in
   * @throws ApiError CONFLICT when it is not what it was
   */
  async function copy (
    target: FileHandle, { number, is_apart: isApart, size }: Chunk, lies: number, at: number
  ): Promise<void> {
    const source = await open(isApart ? apart(number) : whole, READ)
    const buffer = Buffer.allocUnsafe(Math.min(COPIED_BYTES, size))
    try {
      for (let done = 0; done < size;) {
        const { bytesRead } = await source.read(buffer, 0, Math.min(buffer.length, size - done), lies + done)
        if (bytesRead === 0) throw conflict(`Chunk ${number} was sent again meanwhile; complete the upload once more`)
        await writeAll(target, buffer.subarray(0, bytesRead), at + done)
        done += bytesRead
      }
    } finally {
      await source.close()
    }
  }

  /** Writes what is given of chunks to its place in a file. */
  async function copyAll (path: string, placed: readonly LocatedChunk[]): Promise<void> {
    const target = await open(path, WRITE, MODE)
    try {
      for (const { chunk, lies, at } of placed) await copy(target, chunk, chunk.is_apart ? 0 : lies, at)
      await target.sync()
    } finally {
      await target.close()
    }
  }

  return {
    /** Two paths of what is whole in the end: where chunks lie at their place, and where others are joined. */
    whole,
    joined,

    /** Writes a chunk to its place in the file of the upload. */
    writeInPlace: (start: number, content: Readable, look: Look): Promise<void> => write(whole, start, content, look),

    /** Writes a chunk to a file of its own, in place of an earlier one once all of it is there. */
    async writeApart (number: number, content: Readable, look: Look): Promise<void> {
      const path = join(folder, `.${id}.${number}.${randomUUID().slice(0, 8)}.part`)
      try {
        await write(path, 0, content, look)
        await rename(path, apart(number))
      } catch (err) {
        await rm(path, { force: true })
        throw err
      }
    },

    /**
     * Puts the chunks, all of them by number, together. Usually they lie in one file already.
     *
     * @returns the path of the file that is whole
     */
    async assemble ({ chunk_size: each, total_size: total }: Cut, chunks: readonly Chunk[]): Promise<string> {
      const placed = locateAll(chunks, each ?? 0)
      if (placed.every(({ chunk, lies, at }) => chunk.is_apart || lies === at)) {
        const strays = placed.filter(({ chunk }) => chunk.is_apart)
        if (strays.length > 0) await copyAll(whole, strays)
        return whole
      }
      await rm(joined, { force: true })
      await requireFreeSpace(folder, total)
      await copyAll(joined, placed)
      return joined
    },

    /** Removes all that is staged of the upload. */
    async discard (): Promise<void> {
      const names = await readdir(folder).catch(() => [])
      for (const name of names) if (stagedId(name) === id) await rm(join(folder, name), { force: true })
    }
  }
}
export type Staging = ReturnType<typeof createStaging>
