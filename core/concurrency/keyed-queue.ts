import PQueue from 'p-queue'
import { ApiError } from '../errors.ts'

/**
 * Runs work with the same key in sequence, and work with different keys concurrently.
 *
 * @param what the work in the plural, for error messages
 */
export function createKeyedQueue (waitingMax: number, what: string) {
  const lines = new Map<string, PQueue>()

  /** @throws ApiError TOO_MANY_REQUESTS if too many calls already wait under the key. */
  return async <T> (key: string, work: () => Promise<T>): Promise<T> => {
    const line = lines.get(key) ?? new PQueue({ concurrency: 1 })
    if (line.size >= waitingMax) {
      throw new ApiError('TOO_MANY_REQUESTS', `Too many ${what} at once; try again shortly`, { retryAfterSeconds: 2 })
    }
    lines.set(key, line)
    try {
      return await line.add(work)
    } finally {
      if (line.size === 0 && line.pending === 0) lines.delete(key)
    }
  }
}
