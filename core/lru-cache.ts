/** A part of a cached value, which other values may have too, and its weight. */
export interface CachedPart { part: object, weight: number }

export interface LruCacheOptions<Key, Value> {
  /** The most that all entries together may weigh. */
  max: number
  /** Weighs an entry; without it each entry weighs 1, so that `max` counts entries. */
  weightOf? (value: Value, key: Key): number
  /** Returns the parts of a value that several values may share, with their weights. A shared part weighs once. */
  partsOf? (value: Value): readonly CachedPart[]
  /** Called with each value that the cache evicts. */
  onEvict? (value: Value): void
}

export interface LruCache<Key, Value> {
  /** Returns a value, which becomes the most recently used one. */
  get (key: Key): Value | undefined
  /** Stores a value, and evicts the least recently used ones. A value heavier than the whole cache is not stored. */
  set (key: Key, value: Value): void
  delete (key: Key): void
  values (): Value[]
  /** The weight of all entries. */
  weight (): number
}

/** Counts the entries that have each part. */
function createPartUses () {
  const uses = new Map<object, number>()

  return {
    /** Returns the weight of those parts that no other entry has. */
    add: (parts: readonly CachedPart[]): number => parts.reduce((total, { part, weight }) => {
      const count = uses.get(part) ?? 0
      uses.set(part, count + 1)
      return count === 0 ? total + weight : total
    }, 0),

    /** Returns the weight of those parts that no other entry has. */
    remove: (parts: readonly CachedPart[]): number => parts.reduce((total, { part, weight }) => {
      const count = uses.get(part) ?? 0
      if (count > 1) {
        uses.set(part, count - 1)
        return total
      }
      uses.delete(part)
      return total + weight
    }, 0)
  }
}

/** Creates a cache that evicts the least recently used entries. Maps iterate in the order of insertion. */
export function createLruCache<Key, Value> (
  { max, weightOf = () => 1, partsOf = () => [], onEvict }: LruCacheOptions<Key, Value>
): LruCache<Key, Value> {
  const entries = new Map<Key, { value: Value, weight: number, parts: readonly CachedPart[] }>()
  const uses = createPartUses()
  let total = 0

  function remove (key: Key): void {
    const entry = entries.get(key)
    if (entry === undefined) return
    total -= entry.weight + uses.remove(entry.parts)
    entries.delete(key)
  }

  function evict (): void {
    for (const [key, { value }] of entries) {
      if (total <= max) return
      remove(key)
      onEvict?.(value)
    }
  }

  return {
    get (key) {
      const entry = entries.get(key)
      if (entry === undefined) return undefined
      entries.delete(key)
      entries.set(key, entry)
      return entry.value
    },
    set (key, value) {
      remove(key)
      const weight = weightOf(value, key)
      const parts = partsOf(value)
      if (parts.reduce((sum, one) => sum + one.weight, weight) > max) return
      entries.set(key, { value, weight, parts })
      total += weight + uses.add(parts)
      evict()
    },
    delete: remove,
    values: () => [...entries.values()].map(({ value }) => value),
    weight: () => total
  }
}
