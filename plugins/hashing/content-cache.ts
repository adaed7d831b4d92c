import type { Entry, Listing } from '../../core/archives/archive.ts'
import { largestMember } from './retroachievements/known.ts'

/** What is larger is read again: each thread may hold so much. */
const KEPT_BYTES = 16 * 1024 ** 2

/** The content that stands for a file, kept while it is hashed so that it need not be unpacked twice. */
export class ContentCache {
  /** Of an archive, the member that counts. */
  #member: Listing | null = null
  #pieces: Buffer[] = []
  #bytes: Buffer | null = null

  /** Of what is left of an archive; null for a file that is none. */
  get memberSize (): number | null {
    return this.#member?.size ?? null
  }

  /** Null when it was not read at once, or too large. Gone when the next file is read. */
  get bytes (): Buffer | null {
    if (this.#member === null) return this.#bytes
    return this.#pieces.length === 0 ? null : Buffer.concat(this.#pieces, this.#member.size)
  }

  setBytes (bytes: Buffer): void {
    this.#bytes = bytes
  }

  /** The same member, of which a copy is kept when it is the largest so far. */
  watch (entry: Entry): Entry {
    if (this.#member !== null && largestMember([this.#member, entry]) !== entry) return entry
    const pieces: Buffer[] = []
    this.#member = entry
    this.#pieces = pieces
    if (entry.size > KEPT_BYTES) return entry
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
