import { createLruCache } from '../../../core/lru-cache.ts'

/** Enough entries for the files of many downloads; each entry takes a few hundred bytes. */
const CACHED_MAX = 10_000

export interface Checksums {
  /** Returns the checksum of a key. All callers share one computation, and only a failure starts another one. */
  get (key: string, compute: () => Promise<number>): Promise<number>
  set (key: string, sum: number): void
}

/**
 * Caches checksums of files that the scan does not know, such as archives, because the scan hashes their content. A
 * broken download does not stop a running computation, because the next attempt needs the same checksum.
 */
export function createChecksums (): Checksums {
  const cached = createLruCache<string, Promise<number>>({ max: CACHED_MAX })

  return {
    get (key, compute) {
      const found = cached.get(key)
      if (found !== undefined) return found
      const sum = compute()
      sum.catch(() => { cached.delete(key) })
      cached.set(key, sum)
      return sum
    },
    set (key, sum) { cached.set(key, Promise.resolve(sum)) }
  }
}
