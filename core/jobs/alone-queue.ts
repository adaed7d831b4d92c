import { createKeyedQueue } from '../concurrency/keyed-queue.ts'
import type { Locks } from './locks.ts'

/**
 * Creates a function that runs work while no work with the same key runs, in this process or in another one.
 *
 * @param waitingMax the most calls that wait under a key, in each process
 * @param what the work in the plural, for error messages
 */
export function createAloneQueue (locks: Pick<Locks, 'runAlone'>, waitingMax: number, what: string) {
  const inOrder = createKeyedQueue(waitingMax, what)
  /** @throws ApiError TOO_MANY_REQUESTS if too many calls already wait under the key. */
  return <T> (key: string, work: () => Promise<T>): Promise<T> => inOrder(key, () => locks.runAlone(key, work))
}
