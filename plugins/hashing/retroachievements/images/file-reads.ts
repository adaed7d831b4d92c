import type { Hash } from 'node:crypto'
import { ArchiveError, type Budget } from '../../../../core/archives/limits.ts'
import { readUpTo, type Source } from '../../../../core/archives/source.ts'

/** Content that can be read at any position, most cheaply from start to end. */
export interface Reads {
  readonly size: number
  /** Reads up to `length` bytes; fewer only at the end. */
  read (position: number, length: number): Buffer | Promise<Buffer>
}

/** A file, which is read synchronously. */
export interface FileReads extends Reads {
  read (position: number, length: number): Buffer
}

const CHUNK_BYTES = 256 * 1024

/** Returns the reads of a file. Its reads throw an ArchiveError or CancelledError, as the budget decides. */
export function readsOf (source: Source, budget: Budget): FileReads {
  return {
    size: source.size,
    read (position, length) {
      budget.check()
      return readUpTo(source, position, length)
    }
  }
}

/** Returns the reads of content in memory. Each read gives a copy, for rules that swap bytes. */
export function readsOfBytes (bytes: Buffer): FileReads {
  return { size: bytes.length, read: (position, length) => Buffer.from(bytes.subarray(position, position + length)) }
}

/** A member of an archive. Reading before the last position unpacks the member from its start again. */
export class MemberReads implements Reads {
  readonly size: number
  readonly #open: () => AsyncIterable<Uint8Array>
  #pieces: AsyncIterator<Uint8Array> | null = null
  #piece: Uint8Array = new Uint8Array()
  #start = 0

  constructor (size: number, open: () => AsyncIterable<Uint8Array>) {
    this.size = size
    this.#open = open
  }

  async read (position: number, length: number): Promise<Buffer> {
    if (this.#pieces === null || position < this.#start) await this.#restart()
    const bytes = Buffer.allocUnsafe(Math.max(0, Math.min(length, this.size - position)))
    let filled = 0
    while (filled < bytes.length) {
      const from = position + filled - this.#start
      if (from >= this.#piece.length) {
        if (await this.#next()) continue
        throw new ArchiveError('it ends too early')
      }
      const part = this.#piece.subarray(from, from + bytes.length - filled)
      bytes.set(part, filled)
      filled += part.length
    }
    return bytes
  }

  async close (): Promise<void> {
    const pieces = this.#pieces
    this.#pieces = null
    await pieces?.return?.()
  }

  async #restart (): Promise<void> {
    await this.close()
    this.#pieces = this.#open()[Symbol.asyncIterator]()
    this.#piece = new Uint8Array()
    this.#start = 0
  }

  async #next (): Promise<boolean> {
    const next = await this.#pieces?.next()
    if (next === undefined || next.done === true) return false
    this.#start += this.#piece.length
    this.#piece = next.value
    return true
  }
}

/** Reads exactly `length` bytes. @throws ArchiveError if there are fewer. */
export async function readWhole (reads: Reads, position: number, length: number): Promise<Buffer> {
  const bytes = await reads.read(position, length)
  if (bytes.length < length) throw new ArchiveError('it ends too early')
  return bytes
}

/** Reads exactly `length` bytes of a file synchronously. @throws ArchiveError if there are fewer. */
export function readExactlyAt (file: FileReads, position: number, length: number): Buffer {
  if (position + length > file.size) throw new ArchiveError('it ends too early')
  return file.read(position, length)
}

/** Adds a part of the content to a digest. @throws ArchiveError if the content ends before. */
export async function digestRange (digest: Hash, reads: Reads, start: number, length: number): Promise<void> {
  for (let done = 0; done < length; done += CHUNK_BYTES) {
    digest.update(await readWhole(reads, start + done, Math.min(CHUNK_BYTES, length - done)))
  }
}
