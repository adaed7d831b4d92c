/** Enough for the files of many downloads; each takes a few hundred bytes. */
const KEPT = 10_000

export interface Checksums {
  /** The checksum of this key; reads for it once, however many ask, and again only after a failure. */
  get (key: string, compute: () => Promise<number>): Promise<number>
  set (key: string, sum: number): void
}

/**
 * Checksums of files that the scan does not know, such as archives, of which it hashes what is inside. A download that
 * broke off does not stop one that is under way: the next attempt at it needs the same.
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
