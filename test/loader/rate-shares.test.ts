import t from 'tap'
import { chooseShare } from '../../core/loader/rate-shares.ts'
import { until } from '../until.ts'
import { findPeak, startRateShares } from './rate-shares-support.ts'

const { startProcesses } = await startRateShares(t)

t.test('a single process has the whole rate, and needs no statement for a request', async (t) => {
  const rate = { requests: 100, perMs: 250 }
  const processes = await startProcesses(t, { rates: [rate] }, 1)
  processes.start(0)
  const startedAt = performance.now()
  await until(() => processes.sent.length > 500, 'many requests')
  t.ok(findPeak(processes.sent, rate.perMs) <= rate.requests)
  t.ok(processes.countLeases() <= 2 + (performance.now() - startedAt) / 500, `${processes.countLeases()} leases`)
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
