import { randomUUID } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { type RateLimit, createRateLimiter } from '../../core/http/rate-limit.ts'
import { chooseShare, createRateShares } from '../../core/loader/rate-shares.ts'
import { shareTestApp } from '../support.ts'
import { until } from '../until.ts'

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

/** The longest time between the count of a request and the moment when a test sees it, in milliseconds. */
const DELAY_MS = 20

/** Returns the most requests in any window. */
function findPeak (sent: readonly { time: number }[], windowMs: number): number {
  const perMs = windowMs - DELAY_MS
  const times = sent.map(({ time }) => time).sort((a, b) => a - b)
  return Math.max(...times.map((start, index) => times.slice(index).filter((time) => time < start + perMs).length))
}

t.test('two processes together keep within a rate, and both get their part', async (t) => {
  const rate = { requests: 10, perMs: 200 }
  const processes = await startProcesses(t, { rates: [rate] }, 2)
  processes.start(0)
  await until(() => processes.countOf(0) > 20, 'requests of the first process')
  processes.start(1)
  await until(() => processes.countOf(1) > 20 && processes.sent.length > 100, 'requests of both processes')
  t.ok(findPeak(processes.sent, rate.perMs) <= rate.requests)
})

t.test('processes take turns at a rate of fewer requests than processes', async (t) => {
  const rate = { requests: 1, perMs: 100 }
  const processes = await startProcesses(t, { rates: [rate] }, 2)
  processes.start(0)
  processes.start(1)
  await until(() => processes.countOf(0) > 5 && processes.countOf(1) > 5, 'requests of both processes')
  t.equal(findPeak(processes.sent, rate.perMs), 1)
})

t.test('a single process has the whole rate, and needs no statement for a request', async (t) => {
  const rate = { requests: 100, perMs: 100 }
  const processes = await startProcesses(t, { rates: [rate] }, 1)
  processes.start(0)
  const startedAt = performance.now()
  await until(() => processes.sent.length > 1_000, 'many requests')
  t.ok(findPeak(processes.sent, rate.perMs) <= rate.requests)
  t.ok(processes.countLeases() <= 2 + (performance.now() - startedAt) / 500, `${processes.countLeases()} leases`)
})

t.test('two processes together keep within the concurrency of a service', async (t) => {
  for (const concurrency of [1, 3]) {
    const processes = await startProcesses(t, { concurrency }, 2)
    for (const holder of [0, 0, 0, 0, 1, 1, 1, 1]) processes.start(holder)
    await until(() => processes.countOf(0) > 20 && processes.countOf(1) > 20, 'requests of both processes')
    t.equal(processes.findMostRunning(), concurrency)
  }
})

t.test('a share is fair, and never exceeds what others leave', (t) => {
  t.equal(chooseShare(4, { used: 0, claimants: 0, waiting: 0 }, false), 4)
  t.equal(chooseShare(4, { used: 4, claimants: 1, waiting: 0 }, false), 0, 'the other process has all')
  t.equal(chooseShare(4, { used: 0, claimants: 1, waiting: 1 }, true), 2, 'the other process waits')
  t.equal(chooseShare(3, { used: 2, claimants: 1, waiting: 0 }, false), 1)
  t.equal(chooseShare(1, { used: 0, claimants: 1, waiting: 1 }, true), 0, 'it yields')
  t.equal(chooseShare(1, { used: 0, claimants: 1, waiting: 1 }, false), 1)
  t.end()
})
