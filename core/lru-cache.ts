export interface LruCacheOptions<Key, Value> {
  /** The most that all entries together may weigh. */
  max: number
  /** Weighs an entry; without it each entry weighs 1, so that `max` counts entries. */
  weightOf? (value: Value, key: Key): number
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

/** Creates a cache that evicts the least recently used entries. Maps iterate in the order of insertion. */
export function createLruCache<Key, Value> (
  { max, weightOf = () => 1, onEvict }: LruCacheOptions<Key, Value>
): LruCache<Key, Value> {
  const entries = new Map<Key, { value: Value, weight: number }>()
  let total = 0

  function remove (key: Key): void {
    total -= entries.get(key)?.weight ?? 0
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
      if (weight > max) return
      entries.set(key, { value, weight })
      total += weight
      evict()
    },
    delete: remove,
    values: () => [...entries.values()].map(({ value }) => value),
    weight: () => total
  }
}
