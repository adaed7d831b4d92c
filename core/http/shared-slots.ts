import { setTimeout as delay } from 'node:timers/promises'
import { createSemaphore } from '../concurrency/semaphore.ts'
import type { ShareRate } from './sliding-window.ts'

/** Interval at which the share of running requests is renewed, if that is due. */
const RENEW_MS = 1_000
/** A running request counts for this long after a process reported it, and is reported again before. */
const REPORTED_MS = 10_000

/** Limits the concurrent requests to a service, of which this process has a share. */
export interface SharedSlots {
  /** Runs work when a slot of `concurrency` is free. @throws the reason of the signal, and the errors of the work */
  run<Value>(concurrency: number, work: () => Promise<Value>, signal: AbortSignal): Promise<Value>
}

/** Creates the slots. @param share returns how many of the slots this process may use; a window of 0 ms means slots */
export function createSharedSlots (share: ShareRate): SharedSlots {
  const turns = createSemaphore(1)
  let running = 0
  let freed = Promise.withResolvers<void>()
  let timer: NodeJS.Timeout | undefined

  const readShare = (concurrency: number) => share({ requests: concurrency, perMs: 0 }, () =>
    ({ count: running, countsForMs: running === 0 ? 0 : REPORTED_MS }))

  async function waitForSlot (concurrency: number, signal: AbortSignal): Promise<void> {
    for (;;) {
      const { requests, retryMs } = await readShare(concurrency)
      signal.throwIfAborted()
      if (running < requests) {
        running++
        return
      }
      const retry = delay(retryMs, undefined, { signal, ref: false }).catch(() => { signal.throwIfAborted() })
      await Promise.race([freed.promise, retry])
      retry.catch(() => { /* a slot was free before the signal aborted */ })
    }
  }

  function free (): void {
    running--
    freed.resolve()
    freed = Promise.withResolvers()
    if (running > 0) return
    clearInterval(timer)
    timer = undefined
  }

  return {
    async run (concurrency, work, signal) {
      await turns.run(() => waitForSlot(concurrency, signal), signal)
      timer ??= setInterval(() => {
        // A request that waits for a slot reports the error.
        Promise.resolve(readShare(concurrency)).catch(() => {})
      }, RENEW_MS).unref()
      try {
        return await work()
      } finally {
        free()
      }
    }
  }
}
