/**
 * Runs `create` at most once per key and period, however many callers ask, because anonymous requests must stay cheap.
 * A rejection is not cached.
 */
export function createTimedMemo<T> (keepMs: number, now: () => number = Date.now) {
  const kept = new Map<string, { value: Promise<T>, until: number }>()
  return async function memo (key: string, create: () => Promise<T>): Promise<T> {
    const known = kept.get(key)
    if (known !== undefined && now() < known.until) return await known.value
    const value = create()
    kept.set(key, { value, until: now() + keepMs })
    value.catch(() => { kept.delete(key) })
    return await value
  }
}
