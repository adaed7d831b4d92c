/**
 * Runs `create` at most once per key and period, however many callers ask, because anonymous requests must stay cheap.
 * A rejection is not cached.
 */
export function createTimedMemo<T> (keepMs: number, now: () => number = Date.now) {
  const cache = new Map<string, { value: Promise<T>, until: number }>()
  return async function memo (key: string, create: () => Promise<T>): Promise<T> {
    const cached = cache.get(key)
    if (cached !== undefined && now() < cached.until) return await cached.value
    const value = create()
    cache.set(key, { value, until: now() + keepMs })
    value.catch(() => { cache.delete(key) })
    return await value
  }
}
