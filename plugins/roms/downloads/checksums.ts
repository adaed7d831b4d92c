/** Enough entries for the files of many downloads; each entry takes a few hundred bytes. */
const KEPT = 10_000

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
  const known = new Map<string, Promise<number>>()

  function remember (key: string, sum: Promise<number>): Promise<number> {
    known.delete(key)
    known.set(key, sum)
    const [oldest] = known.keys()
    if (known.size > KEPT && oldest !== undefined) known.delete(oldest)
    return sum
  }

  return {
    get (key, compute) {
      const found = known.get(key)
      if (found !== undefined) return remember(key, found)
      const sum = compute()
      sum.catch(() => { known.delete(key) })
      return remember(key, sum)
    },
    set (key, sum) { void remember(key, Promise.resolve(sum)) }
  }
}
