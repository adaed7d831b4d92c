/** So many pieces of work at once; the others wait, first come, first served. */
export interface Semaphore {
  /** For whatever comes next: what is under way goes on. */
  setMost (most: number): void
  /**
   * Has work wait for its turn.
   *
   * @param signal ends the waiting; not needed where what is under way ends with it, and then comes everybody's turn
   * @throws the reason of the signal, and what the work throws
   */
  run<Value>(work: () => Promise<Value>, signal?: AbortSignal): Promise<Value>
}

/** Not a p-queue, whose events, identities and priorities cost as much as asking a source over HTTP does. */
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
