import { onAbort } from './on-abort.ts'

/** So many pieces of work at once; the others wait, first come, first served. */
export interface Slots {
  /** For whatever comes next: what is under way goes on. */
  setMost (most: number): void
  /** Has work wait for its turn. @throws the reason of the signal while it waits, and what the work throws */
  take<Value>(work: () => Promise<Value>, signal: AbortSignal): Promise<Value>
}

/** Not a p-queue, whose events, identities and priorities cost as much as asking a source over HTTP does. */
export function createSlots (most = Infinity): Slots {
  const waiting = new Set<() => void>()
  let taken = 0

  function fill (): void {
    for (const begin of waiting) {
      if (taken >= most) return
      waiting.delete(begin)
      taken++
      begin()
    }
  }

  async function wait (signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    waiting.add(resolve)
    const stop = onAbort(signal, () => {
      if (waiting.delete(resolve)) reject(signal.reason as Error)
    })
    try {
      await promise
    } finally {
      stop()
    }
  }

  return {
    setMost (given) {
      most = given
      fill()
    },
    async take (work, signal) {
      signal.throwIfAborted()
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
