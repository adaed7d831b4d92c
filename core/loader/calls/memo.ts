import type { Context } from '@svc/plugin-sdk'

/** Creates a memo that runs `create` once per key and shares the promise; a rejection is not cached. */
export function createMemo (): Context['memo'] {
  const promises = new Map<string, Promise<unknown>>()
  return async function memo<T> (key: string, create: () => Promise<T>): Promise<T> {
    const cached = promises.get(key)
    if (cached !== undefined) return await cached as T
    const created = create()
    promises.set(key, created)
    created.catch(() => { promises.delete(key) })
    return await created
  }
}
