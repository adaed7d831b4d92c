import type { Limits, Rate } from '@svc/plugin-sdk'
import { createSemaphore } from '../concurrency/semaphore.ts'
import { createSharedSlots } from './shared-slots.ts'
import { type ShareRate, type SlidingWindow, createSlidingWindow } from './sliding-window.ts'

/** The limits of requests to a service. */
export type RateLimit = Pick<Limits, 'concurrency' | 'rates'>

/** A caller that waits for a slot: the signal that ends the wait, and the callback about it. */
export interface Waiter {
  readonly signal: AbortSignal
  /** Called when the wait begins. The returned function is called when the wait ends, and perhaps once more. */
  readonly onWait?: (() => () => void) | undefined
}

export interface RateLimiter {
  /**
   * Runs work when the limits allow a request to the host. @throws the reason of the signal, and the errors of the work
   */
  run<T>(host: string, work: () => Promise<T>, waiter: Waiter): Promise<T>
  /** Replaces the limits for all later requests. A rate that stays keeps its count of sent requests. */
  set (rateLimit: RateLimit): void
}

export const nameRate = ({ requests, perMs, hosts = [] }: Rate) => JSON.stringify([requests, perMs, hosts.toSorted()])

/**
 * Creates a rate limiter. All requests that use it share its limits.
 *
 * @param share returns the part of a rate for this process; by default the process has the whole rate
 */
export function createRateLimiter (initialLimits: RateLimit, share: ShareRate | null = null): RateLimiter {
  const slots = createSemaphore()
  const sharedSlots = share === null ? null : createSharedSlots(share)
  let limit: number | undefined
  let counters = new Map<string, { rate: Rate, window: SlidingWindow }>()

  function set ({ concurrency, rates = [] }: RateLimit): void {
    limit = concurrency
    slots.setLimit(concurrency ?? Infinity)
    // The longest window first, because a request that waits long must not be counted in a short window before.
    const ordered = rates.toSorted((a, b) => b.perMs - a.perMs)
    counters = new Map(ordered.map((rate) => {
      const name = nameRate(rate)
      return [name, counters.get(name) ?? { rate, window: createSlidingWindow(rate, share) }]
    }))
  }
  set(initialLimits)

  /** Waits until every rate for the host allows one more request. */
  async function waitForRates (host: string, signal: AbortSignal): Promise<void> {
    for (const { rate, window } of counters.values()) {
      if (rate.hosts === undefined || rate.hosts.includes(host)) await window.wait(signal)
    }
  }

  /** Runs work in a slot of this process, and of all processes if they share a limit. */
  function runInSlot<T> (work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const concurrency = limit
    if (sharedSlots === null || concurrency === undefined) return slots.run(work, signal)
    return slots.run(() => sharedSlots.run(concurrency, work, signal), signal)
  }

  return {
    set,
    async run (host, work, { signal, onWait }) {
      const endWait = onWait?.() ?? (() => {})
      try {
        return await runInSlot(async () => {
          if (counters.size > 0) await waitForRates(host, signal)
          endWait()
          return await work()
        }, signal)
      } finally {
        endWait()
      }
    }
  }
}
