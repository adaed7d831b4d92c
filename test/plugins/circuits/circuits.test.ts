import fc from 'fast-check'
import t from 'tap'
import { ProviderSkippedError } from '../../../plugins/circuits/check-circuit.ts'
import {
  type Breaker, FAILURES_MAX, FIRST_COOL_DOWN_MS, LONGEST_COOL_DOWN_MS, LONGEST_PAUSE_MS, type CallOutcome,
  PROBE_WAIT_MAX_MS, type CallPermit, CircuitBreaker
} from '../../../plugins/circuits/breaker.ts'

const FAILED: CallOutcome = { kind: 'failed', message: 'no route' }
const ANSWERED: CallOutcome = { kind: 'answered' }
const paused = (ms: number): CallOutcome => ({ kind: 'paused', message: 'slow down', ms })

/** Creates a breaker with a clock that only the test moves. */
function start () {
  const clock = { now: Date.UTC(2026, 0, 1) }
  const opened: unknown[] = []
  const breaker = new CircuitBreaker(() => clock.now, (circuit) => opened.push(circuit))
  return { clock, breaker, opened }
}

function take (breaker: Breaker): Extract<CallPermit, { kind: 'call' }> {
  const turn = breaker.requestCall()
  if (turn.kind !== 'call') throw new Error(`No call may be made: ${JSON.stringify(turn)}`)
  return turn
}

function fail (breaker: Breaker, times: number): void {
  for (let count = 0; count < times; count++) take(breaker).end(FAILED)
}

const stateOf = (breaker: Breaker) => breaker.view()?.state

t.test('a provider has no circuit before its first call', async (t) => {
  const { breaker } = start()
  t.equal(breaker.view(), null)
  take(breaker)
  t.same(breaker.view(), { state: 'closed', reason: null, failures_in_a_row: 0, opened_at: null, retry_at: null })
})

t.test('failures in a row open the circuit; an answer in between resets the count', async (t) => {
  const { breaker, opened } = start()
  fail(breaker, FAILURES_MAX - 1)
  t.match(breaker.view(), { state: 'closed', reason: 'its last 7 calls failed, most recently with: no route' }, 'before it opens')
  take(breaker).end(ANSWERED)
  t.equal(breaker.view()?.reason, null)
  fail(breaker, FAILURES_MAX - 1)
  t.equal(stateOf(breaker), 'closed')
  fail(breaker, 1)
  const circuit = {
    state: 'open',
    reason: 'it failed 8 times in a row, most recently with: no route',
    failures_in_a_row: 8,
    opened_at: '2026-01-01T00:00:00+00:00',
    retry_at: '2026-01-01T00:00:30+00:00'
  }
  t.same(breaker.view(), circuit)
  t.same(opened, [circuit], 'told once')
  t.match(breaker.requestCall(), { kind: 'refusal', reason: /no route/, retryAt: Date.UTC(2026, 0, 1, 0, 0, 30) })
})

t.test('after the cool-down one call is the probe; others wait for its end, but not long', async (t) => {
  const { clock, breaker } = start()
  fail(breaker, FAILURES_MAX)
  clock.now += FIRST_COOL_DOWN_MS - 1
  t.equal(breaker.requestCall().kind, 'refusal')
  clock.now += 1
  t.equal(stateOf(breaker), 'half_open')
  const probe = take(breaker)
  const other = breaker.requestCall()
  t.match(other, { kind: 'wait', ms: PROBE_WAIT_MAX_MS })
  t.equal(breaker.refusal(), null)
  clock.now += PROBE_WAIT_MAX_MS
  t.match(breaker.requestCall(), { kind: 'refusal', retryAt: null })
  probe.end(ANSWERED)
  if (other.kind === 'wait') await other.probeEnd
  t.equal(stateOf(breaker), 'closed')
  t.equal(breaker.requestCall().kind, 'call')
})

t.test('each failed probe doubles the cool-down up to ten minutes, until an answer', async (t) => {
  const { clock, breaker } = start()
  fail(breaker, FAILURES_MAX)
  const coolDowns: number[] = []
  for (let probes = 0; probes < 7; probes++) {
    const refusal = breaker.refusal()
    const ms = (refusal?.retryAt ?? 0) - clock.now
    coolDowns.push(ms / 1_000)
    clock.now += ms
    take(breaker).end(FAILED)
  }
  t.same(coolDowns, [30, 60, 120, 240, 480, 600, 600])
  clock.now += LONGEST_COOL_DOWN_MS
  take(breaker).end(ANSWERED)
  fail(breaker, FAILURES_MAX)
  t.equal((breaker.refusal()?.retryAt ?? 0) - clock.now, FIRST_COOL_DOWN_MS)
})

t.test('after a cancelled probe the next call is the probe', async (t) => {
  const { clock, breaker } = start()
  fail(breaker, FAILURES_MAX)
  clock.now += FIRST_COOL_DOWN_MS
  take(breaker).end({ kind: 'cancelled' })
  t.equal(stateOf(breaker), 'half_open')
  take(breaker).end(ANSWERED)
  t.equal(stateOf(breaker), 'closed')
})

t.test('late ends of calls from an older state change nothing', async (t) => {
  const { clock, breaker } = start()
  const [late, later] = [take(breaker), take(breaker)]
  fail(breaker, FAILURES_MAX)
  late.end(ANSWERED)
  t.equal(stateOf(breaker), 'open')
  clock.now += FIRST_COOL_DOWN_MS
  const probe = take(breaker)
  later.end(FAILED)
  t.equal(stateOf(breaker), 'half_open')
  probe.end(ANSWERED)
  probe.end(FAILED)
  t.match(breaker.view(), { state: 'closed', failures_in_a_row: 0 })
})

t.test('a new scan probes a failed or refused provider once, and keeps a pause', async (t) => {
  const down = start().breaker
  fail(down, FAILURES_MAX)
  down.allowProbe()
  t.equal(stateOf(down), 'half_open')

  const { clock, breaker: refused } = start()
  take(refused).end({ kind: 'refused', message: 'the key is wrong; set DEMO_KEY' })
  clock.now += 10 * LONGEST_COOL_DOWN_MS
  t.match(refused.view(), { state: 'open', reason: 'the key is wrong; set DEMO_KEY', retry_at: null })
  refused.allowProbe()
  const probe = take(refused)
  t.equal(refused.requestCall().kind, 'wait', 'others wait for what it finds out')
  probe.end({ kind: 'refused', message: 'the key is still wrong' })
  t.match(refused.view(), { state: 'open', reason: 'the key is still wrong', retry_at: null })
  refused.allowProbe()
  take(refused).end(ANSWERED)
  t.equal(stateOf(refused), 'closed')

  const used = start().breaker
  take(used).end(paused(LONGEST_PAUSE_MS + 1))
  used.allowProbe()
  t.equal(stateOf(used), 'open')
})

t.test('a pause delays calls without opening the circuit, and the longest one counts', async (t) => {
  const { clock, breaker } = start()
  const calls = [take(breaker), take(breaker), take(breaker)]
  calls[0]?.end(paused(1_000))
  calls[1]?.end(paused(60_000))
  calls[2]?.end(paused(2_000))
  t.match(breaker.requestCall(), { kind: 'wait', ms: 60_000, sooner: null })
  t.match(breaker.view(), {
    state: 'closed', reason: 'it asks for a pause of 60 s: slow down', opened_at: null, retry_at: '2026-01-01T00:01:00+00:00'
  })
  clock.now += 60_000
  t.equal(breaker.requestCall().kind, 'call')
  t.match(breaker.view(), { reason: null, retry_at: null })
})

t.test('too long a pause opens the circuit until its end, as does a sum of pauses', async (t) => {
  const { clock, breaker } = start()
  take(breaker).end(paused(86_400_000))
  t.match(breaker.view(), { state: 'open', reason: /a pause of 86400 s/, retry_at: '2026-01-02T00:00:00+00:00' })
  clock.now += 86_400_000
  take(breaker).end(ANSWERED)
  t.equal(stateOf(breaker), 'closed')

  for (const isAnswering of [true, false]) {
    for (let minutes = 0; minutes < LONGEST_PAUSE_MS / 60_000; minutes++) {
      take(breaker).end(paused(60_000))
      clock.now += 60_000
      if (isAnswering) take(breaker).end(ANSWERED)
    }
    t.equal(stateOf(breaker), 'closed')
  }
  take(breaker).end(paused(60_000))
  t.equal(stateOf(breaker), 'open')
})

t.test('a skipped call names the time when calls resume only while it is in the future', (t) => {
  const describe = (retryAt: number | null) => new ProviderSkippedError({ reason: 'its allowance is used up', retryAt }).describe()
  t.equal(describe(Date.UTC(2100, 0)), 'its allowance is used up; calls resume at 2100-01-01T00:00:00+00:00')
  for (const retryAt of [null, Date.now() - 1]) t.equal(describe(retryAt), 'its allowance is used up')
  t.end()
})

t.test('a senseless pause becomes the shortest or a very long one', async (t) => {
  for (const ms of [0, -5, Number.NaN]) {
    const { breaker } = start()
    take(breaker).end(paused(ms))
    t.match(breaker.requestCall(), { kind: 'wait', ms: 50 }, String(ms))
  }
  const { breaker } = start()
  take(breaker).end(paused(Infinity))
  t.match(breaker.view(), { state: 'open', retry_at: /^2027/ })
})

type Step = { kind: 'turn' } | { kind: 'end', which: number, outcome: CallOutcome } | { kind: 'pass', ms: number } |
  { kind: 'scan' }

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Step>({ kind: 'turn' }) },
  {
    weight: 6,
    arbitrary: fc.record<Step & { kind: 'end' }>({
      kind: fc.constant('end'),
      which: fc.nat(20),
      outcome: fc.oneof(
        { weight: 8, arbitrary: fc.constant(FAILED) },
        fc.constantFrom<CallOutcome>(ANSWERED, { kind: 'cancelled' }, { kind: 'refused', message: 'wrong key' }),
        fc.nat(2_000_000).map(paused)
      )
    })
  },
  { weight: 2, arbitrary: fc.nat(700_000).map((ms): Step => ({ kind: 'pass', ms })) },
  fc.constant<Step>({ kind: 'scan' })
)

t.test('property: no call while open, one probe at a time, and an answer closes', async (t) => {
  let probes = 0
  fc.assert(fc.property(fc.array(step, { minLength: 20, maxLength: 120 }), (steps) => {
    const { clock, breaker } = start()
    const calls: { end: (outcome: CallOutcome) => void, isProbe: boolean }[] = []
    for (const one of steps) {
      if (one.kind === 'pass') clock.now += one.ms
      else if (one.kind === 'scan') breaker.allowProbe()
      else if (one.kind === 'turn') {
        const before = stateOf(breaker)
        const turn = breaker.requestCall()
        if (turn.kind !== 'call') continue
        if (before === 'open') return false
        const isProbe = before === 'half_open'
        if (isProbe && calls.some((call) => call.isProbe)) return false
        if (isProbe) probes++
        calls.push({ end: turn.end, isProbe })
      } else if (calls.length > 0) {
        const before = stateOf(breaker)
        const [call] = calls.splice(one.which % calls.length, 1)
        call?.end(one.outcome)
        const isCurrent = call?.isProbe === true || before === 'closed'
        if (isCurrent && one.outcome.kind === 'answered' && stateOf(breaker) !== 'closed') return false
      }
    }
    return true
  }), { numRuns: 2_000 })
  t.ok(probes > 100, `${probes} probes`)
})
