import { randomUUID } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { Test } from 'tap'
import { type RateLimit, createRateLimiter } from '../../core/http/rate-limit.ts'
import { createRateShares } from '../../core/loader/rate-shares.ts'
import { shareTestApp } from '../support.ts'

/** The longest time between the count of a request and the moment when a test sees it, on a busy machine. */
export const DELAY_MS = 100

/** Returns the most requests in any window. */
export function findPeak (sent: readonly { time: number }[], windowMs: number): number {
  const perMs = windowMs - DELAY_MS
  const times = sent.map(({ time }) => time).sort((a, b) => a - b)
  return Math.max(...times.map((start, index) => times.slice(index).filter((time) => time < start + perMs).length))
}

export async function startRateShares (t: Test) {
  const fresh = shareTestApp(t)

  /** Creates the rate limiters of several processes, and counts all their requests and the statements of each. */
  async function startProcesses (t: Test, limits: RateLimit, count: number) {
    const { app } = await fresh(t)
    const holders = Array.from({ length: count }, () => randomUUID())
    let statements = 0
    const workers = (id: string) => ({
      id,
      listAlive: async () => {
        statements++
        return holders
      }
    })
    const sent: { time: number, holder: number }[] = []
    let [running, mostRunning] = [0, 0]
    const ending = new AbortController()
    t.teardown(() => { ending.abort(new Error('The test is over')) })
    const limiters = holders.map((id) => {
      const shares = createRateShares({ get db () { return app.db }, workers: workers(id) as never })
      return createRateLimiter(limits, shares('provider/alpha'))
    })

    /** Sends one request after the other. */
    async function send (holder: number): Promise<void> {
      while (!ending.signal.aborted) {
        await limiters[holder]?.run('example.org', async () => {
          sent.push({ time: performance.now(), holder })
          mostRunning = Math.max(mostRunning, ++running)
          await setImmediate()
          running--
        }, { signal: ending.signal }).catch(() => { ending.signal.throwIfAborted() })
      }
    }

    return {
      sent,
      countLeases: () => statements,
      findMostRunning: () => mostRunning,
      start (holder: number): void { send(holder).catch(() => { /* the test is over */ }) },
      countOf: (holder: number) => sent.filter((one) => one.holder === holder).length
    }
  }
  return { startProcesses }
}
