/** Limits how much runs at once, in tasks or in another unit; the others wait in order of arrival. */
export interface Semaphore {
  /** Changes the limit for later tasks; running tasks continue. */
  setMost (most: number): void
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
export function createSemaphore (most = Infinity): Semaphore {
  const waiting: { begin: () => void, weight: number }[] = []
  let taken = 0

  /** Work that is heavier than the limit runs alone. */
  const fits = (weight: number) => taken === 0 || taken + weight <= most

  function fill (): void {
    for (let [next] = waiting; next !== undefined && fits(next.weight); [next] = waiting) {
      waiting.shift()
      taken += next.weight
      next.begin()
    }
  }

  function wait (weight: number, signal?: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    function leave (): void {
      waiting.splice(waiting.indexOf(waiter), 1)
      reject(signal?.reason)
      fill()
    }
    function begin (): void {
      signal?.removeEventListener('abort', leave)
      resolve()
    }
    const waiter = { begin, weight }
    signal?.addEventListener('abort', leave, { once: true })
    waiting.push(waiter)
    return promise
  }

  return {
    setMost (given) {
      most = given
      fill()
    },
    async run (work, signal, weight = 1) {
      signal?.throwIfAborted()
      if (waiting.length === 0 && fits(weight)) taken += weight
      else await wait(weight, signal)
      try {
        return await work()
      } finally {
        taken -= weight
        fill()
      }
    }
  }
}
