import type { Entry, Listing } from '../../core/archives/archive.ts'
import { largestMember } from './retroachievements/known-hash.ts'

/** The largest content that is cached, because each thread may cache this much. Larger content is read again. */
const CACHED_BYTES_MAX = 16 * 1024 ** 2

/** Caches the content of a file, or of an archive's largest member, during hashing. It need not be unpacked twice. */
export class ContentCache {
  /** The largest member of an archive. */
  #member: Listing | null = null
  #pieces: Buffer[] = []
  #bytes: Buffer | null = null

  /** The size of the archive's largest member; null for a file that is no archive. */
  get memberSize (): number | null {
    return this.#member?.size ?? null
  }

  /** The cached content; null if it was too large or not read at once. Reading the next file overwrites the content. */
  get bytes (): Buffer | null {
    if (this.#member === null) return this.#bytes
    return this.#pieces.length === 0 ? null : Buffer.concat(this.#pieces, this.#member.size)
  }

  setBytes (bytes: Buffer): void {
    this.#bytes = bytes
  }

  /** Returns the member. Caches its content while it is read if the member is the largest so far. */
  watch (entry: Entry): Entry {
    if (this.#member !== null && largestMember([this.#member, entry]) !== entry) return entry
    const pieces: Buffer[] = []
    this.#member = entry
    this.#pieces = pieces
    if (entry.size > CACHED_BYTES_MAX) return entry
    return {
      ...entry,
      async * content () {
        for await (const piece of entry.content()) {
          pieces.push(Buffer.from(piece))
          yield piece
        }
      }
    }
  }
}
