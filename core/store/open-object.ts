import { isNothingThere } from '../files/safe-path.ts'
import type { Store, StoredObject } from './store.ts'

/** Opens an object by a key from outside. Returns null for a key that no object can have. */
export async function openIfPresent (store: Store, key: string): Promise<StoredObject | null> {
  try {
    return await store.get(key)
  } catch (err) {
    if (isNothingThere(err)) return null
    throw err
  }
}
