/** Limits how much runs at once, in tasks or in another unit; the others wait in order of arrival. */
export interface Semaphore {
  /** Changes the limit for later tasks; running tasks continue. */
  setLimit (limit: number): void
  /**
   * Runs work when a slot is free.
   *
   * @param weight the number of slots that the work takes, at most all
   * @param signal ends the wait. Optional if the signal also ends the running work, because that frees the slots.
   * @throws the reason of the signal, and the errors of the work
   */
  run<Value>(work: () => Promise<Value>, signal?: AbortSignal, weight?: number): Promise<Value>
}

/**
 * Creates a semaphore. p-queue is not used: its events, ids and priorities cost as much as an HTTP request to a
 * provider.
 */
export function createSemaphore (limit = Infinity): Semaphore {
  const waiting: { begin: () => void, weight: number }[] = []
  let running = 0

  /** Work that is heavier than the limit runs alone. */
  const fits = (weight: number) => running === 0 || running + weight <= limit

  function startWaiting (): void {
    for (let [next] = waiting; next !== undefined && fits(next.weight); [next] = waiting) {
      waiting.shift()
      running += next.weight
      next.begin()
    }
  }

  function wait (weight: number, signal?: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    function leaveQueue (): void {
      waiting.splice(waiting.indexOf(waiter), 1)
      reject(signal?.reason)
      startWaiting()
    }
    function begin (): void {
      signal?.removeEventListener('abort', leaveQueue)
      resolve()
    }
    const waiter = { begin, weight }
    signal?.addEventListener('abort', leaveQueue, { once: true })
    waiting.push(waiter)
    return promise
  }

  return {
    setLimit (given) {
      limit = given
      startWaiting()
    },
    async run (work, signal, weight = 1) {
      signal?.throwIfAborted()
      if (waiting.length === 0 && fits(weight)) running += weight
      else await wait(weight, signal)
      try {
        return await work()
      } finally {
        running -= weight
        startWaiting()
      }
    }
  }
}
