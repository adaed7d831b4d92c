import t from 'tap'
import { until } from '../until.ts'
import { findPeak, startRateShares } from './rate-shares-support.ts'

const { startProcesses } = await startRateShares(t)

t.test('two processes together keep within a rate, and both get their part', async (t) => {
  const rate = { requests: 10, perMs: 400 }
  const processes = await startProcesses(t, { rates: [rate] }, 2)
  processes.start(0)
  await until(() => processes.countOf(0) > 20, 'requests of the first process')
  processes.start(1)
  await until(() => processes.countOf(1) > 20 && processes.sent.length > 100, 'requests of both processes')
  t.ok(findPeak(processes.sent, rate.perMs) <= rate.requests)
})

t.test('two processes together keep within the concurrency of a service', async (t) => {
  for (const concurrency of [1, 3]) {
    const processes = await startProcesses(t, { concurrency }, 2)
    for (const holder of [0, 0, 0, 0, 1, 1, 1, 1]) processes.start(holder)
    await until(() => processes.countOf(0) > 20 && processes.countOf(1) > 20, 'requests of both processes')
    t.equal(processes.findMostRunning(), concurrency)
  }
})

t.test('processes take turns at a rate of fewer requests than processes', async (t) => {
  const rate = { requests: 1, perMs: 300 }
  const processes = await startProcesses(t, { rates: [rate] }, 2)
  processes.start(0)
  processes.start(1)
  await until(() => processes.countOf(0) > 5 && processes.countOf(1) > 5, 'requests of both processes')
  t.equal(findPeak(processes.sent, rate.perMs), 1)
})
