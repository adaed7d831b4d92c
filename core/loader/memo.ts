import type { Context } from '@svc/plugin-sdk'

/** Creates a memo that runs `create` once per key and shares the promise; a rejection is not cached. */
export function createMemo (): Context['memo'] {
  const promises = new Map<string, Promise<unknown>>()
  return async function memo<T> (key: string, create: () => Promise<T>): Promise<T> {
    const known = promises.get(key)
    if (known !== undefined) return await known as T
    const made = create()
    promises.set(key, made)
    made.catch(() => { promises.delete(key) })
    return await made
  }
}
