/** Limits how many tasks run at once; the others wait in order of arrival. */
export interface Semaphore {
  /** Changes the limit for later tasks; running tasks continue. */
  setMost (most: number): void
  /**
   * Runs work when a slot is free.
   *
   * @param signal ends the wait. Optional if the signal also ends the running work, because that frees the slots.
   * @throws the reason of the signal, and the errors of the work
   */
  run<Value>(work: () => Promise<Value>, signal?: AbortSignal): Promise<Value>
}

/**
 * Creates a semaphore. p-queue is not used: its events, ids and priorities cost as much as an HTTP request to a
 * provider.
 */
export function createSemaphore (most = Infinity): Semaphore {
  const waiting: (() => void)[] = []
  let taken = 0

  function fill (): void {
    while (taken < most) {
      const begin = waiting.shift()
      if (begin === undefined) return
      taken++
      begin()
    }
  }

  function wait (signal?: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    function leave (): void {
      waiting.splice(waiting.indexOf(begin), 1)
      reject(signal?.reason)
    }
    function begin (): void {
      signal?.removeEventListener('abort', leave)
      resolve()
    }
    signal?.addEventListener('abort', leave, { once: true })
    waiting.push(begin)
    return promise
  }

  return {
    setMost (given) {
      most = given
      fill()
    },
    async run (work, signal) {
      signal?.throwIfAborted()
      if (taken < most) taken++
      else await wait(signal)
      try {
        return await work()
      } finally {
        taken--
        fill()
      }
    }
  }
}
