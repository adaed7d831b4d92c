import type { Limits, Rate } from '@svc/plugin-sdk'
import PQueue from 'p-queue'
import { createSemaphore } from '../semaphore.ts'

/** How fast a service may be asked. */
export type RateLimit = Pick<Limits, 'concurrency' | 'rates'>

/** Whoever waits for a turn: until when, and who is told that it waits. */
export interface Waiter {
  readonly signal: AbortSignal
  /** Called when the waiting begins; what it returns, when it ends, and perhaps once more. */
  readonly onWait?: (() => () => void) | undefined
}

export interface RateLimiter {
  /** Has work wait for its turn at a host. @throws the reason of the signal, and what the work throws */
  run<T>(host: string, work: () => Promise<T>, waiter: Waiter): Promise<T>
  /** Another pace for whatever comes next. A rate that stays keeps count of what was sent. */
  set (pace: RateLimit): void
}

const nameRate = ({ requests, perMs, hosts = [] }: Rate) => JSON.stringify([requests, perMs, hosts.toSorted()])

/** All requests that share the turns keep to the pace together. */
export function createRateLimiter (given: RateLimit): RateLimiter {
  const slots = createSemaphore()
  let counters = new Map<string, { rate: Rate, queue: PQueue }>()

  function set ({ concurrency, rates = [] }: RateLimit): void {
    slots.setMost(concurrency ?? Infinity)
    // The longest first: what waits for a long time must not have been counted in a short window before.
    const ordered = rates.toSorted((a, b) => b.perMs - a.perMs)
    counters = new Map(ordered.map((rate) => {
      const name = nameRate(rate)
      const create = () => new PQueue({ intervalCap: rate.requests, interval: rate.perMs, strict: true })
      return [name, counters.get(name) ?? { rate, queue: create() }]
    }))
  }
  set(given)

  /** Waits until every rate that counts for the host lets one more pass. */
  async function pass (host: string, signal: AbortSignal): Promise<void> {
    for (const { rate, queue } of counters.values()) {
      if (rate.hosts === undefined || rate.hosts.includes(host)) await queue.add(async () => {}, { signal })
    }
  }

  return {
    set,
    async run (host, work, { signal, onWait }) {
      const begin = onWait?.() ?? (() => {})
      try {
        return await slots.run(async () => {
          if (counters.size > 0) await pass(host, signal)
          begin()
          return await work()
        }, signal)
      } finally {
        begin()
      }
    }
  }
}
