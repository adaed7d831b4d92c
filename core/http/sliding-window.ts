import { setTimeout as delay } from 'node:timers/promises'
import type { Rate } from '@svc/plugin-sdk'
import { createSemaphore } from '../concurrency/semaphore.ts'

/** The requests of this process that count in the present window of a rate. */
export interface SentRequests {
  count: number
  /** Milliseconds until none of them counts any more. */
  countsForMs: number
}

/** The part of a rate that this process may use now. */
export interface RateShare {
  /** Requests in any window; 0 if other processes use the whole rate. */
  requests: number
  /** Milliseconds after which a process without a share asks again. */
  retryMs: number
}

/** Returns the present share of a rate. Called before each request, so it usually returns a known share. */
export type ShareRate = (rate: Rate, readSent: () => SentRequests) => RateShare | Promise<RateShare>

/** Limits the requests in any window of a rate. */
export interface SlidingWindow {
  /** Waits until one more request is allowed, in order of arrival, and counts it. @throws the reason of the signal */
  wait (signal: AbortSignal): Promise<void>
}

/** Creates the window of a rate. @param share returns the part of the rate for this process; null for the whole rate */
export function createSlidingWindow (rate: Rate, share: ShareRate | null): SlidingWindow {
  const { requests, perMs } = rate
  const turns = createSemaphore(1)
  /** The times of the requests in the present window, the oldest first. */
  const sent: number[] = []

  function dropOld (now: number): void {
    const first = sent.findIndex((time) => time > now - perMs)
    sent.splice(0, first === -1 ? sent.length : first)
  }

  function readSent (): SentRequests {
    const now = performance.now()
    dropOld(now)
    return { count: sent.length, countsForMs: Math.max(0, (sent.at(-1) ?? now - perMs) + perMs - now) }
  }

  async function waitForTurn (signal: AbortSignal): Promise<void> {
    for (;;) {
      const limit = share === null ? { requests, retryMs: 0 } : await share(rate, readSent)
      signal.throwIfAborted()
      const now = performance.now()
      dropOld(now)
      if (sent.length < limit.requests) {
        sent.push(now)
        return
      }
      const leaving = sent[sent.length - limit.requests]
      const ms = limit.requests === 0 || leaving === undefined ? limit.retryMs : leaving + perMs - now
      await delay(Math.ceil(ms), undefined, { signal }).catch(() => { signal.throwIfAborted() })
    }
  }

  return { wait: (signal) => turns.run(() => waitForTurn(signal), signal) }
}
