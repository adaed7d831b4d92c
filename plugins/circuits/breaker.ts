import { formatDate } from '../../core/typebox.ts'
import type { Circuit } from './schemas.ts'

/** The number of failures in a row after which a provider counts as down. */
export const FAILURES_MAX = 8
/** The time for which a failed provider is not called. Each failed probe doubles the time, up to the longest. */
export const FIRST_COOL_DOWN_MS = 30_000
export const LONGEST_COOL_DOWN_MS = 10 * 60_000
/**
 * The longest pause that calls wait for. A provider that asks for more, at once or in sum without an answer in between,
 * is skipped until its pause ends.
 */
export const LONGEST_PAUSE_MS = 15 * 60_000
/** The longest time that other calls wait for the result of a probe. */
export const PROBE_WAIT_MAX_MS = 5_000

/** The shortest pause, so that a service that asks for no time is not called in a tight loop. */
const SHORTEST_PAUSE_MS = 50
/** The longest time that a circuit stays open. Later dates from now mean nothing, and far later ones are no dates. */
const LONGEST_OPEN_MS = 366 * 86_400_000

/** The outcome of a call. */
export type CallOutcome =
  { kind: 'answered' } |
  { kind: 'failed', message: string } |
  /** The provider asks for a pause of so many milliseconds. */
  { kind: 'paused', message: string, ms: number } |
  /** The provider refuses the credentials. */
  { kind: 'refused', message: string } |
  /** The caller gave up, which says nothing about the provider. */
  { kind: 'cancelled' }

/** The reason why a provider is not called, and when calls resume: milliseconds since 1970, or null if unknown. */
export interface Refusal { kind: 'refusal', reason: string, retryAt: number | null }

export type CallPermit =
  /** The caller makes the call now, and reports its end. */
  { kind: 'call', end (outcome: CallOutcome): void } |
  /** The caller asks again after so many milliseconds, or as soon as `probeEnd` resolves. */
  { kind: 'wait', ms: number, probeEnd: Promise<void> | null } |
  Refusal

export interface Breaker {
  requestCall (): CallPermit
  /** Returns the refusal that a call would get, for callers that would otherwise queue for their turn. */
  refusal (): Refusal | null
  /**
   * Lets the next call probe a provider that failed, without waiting for the cool-down. Also probes one that refused
   * the credentials, because a key may be renewed at the service. A pause that the provider asked for stays.
   */
  allowProbe (): void
  /** Returns the state of the circuit; null before the first call. */
  view (): Circuit | null
}

interface Probe { since: number, end: PromiseWithResolvers<void> }
export type OpenCause = 'failures' | 'pause' | 'credentials'
/**
 * The state of a circuit. A call belongs to the exact state it was made in, because older calls say nothing about the
 * present one.
 */
type State =
  { name: 'closed' } |
  { name: 'open', cause: OpenCause, reason: string, openedAt: number, retryAt: number | null } |
  { name: 'half_open', reason: string, openedAt: number, probe: Probe | null }

/**
 * Creates a circuit breaker (https://martinfowler.com/bliki/CircuitBreaker.html) for one provider, which decides
 * whether calls are allowed. It has no timers and computes the state whenever it is used.
 *
 * @param onOpen told whenever the circuit opens
 * @param onClose told whenever the circuit closes after it was open
 */
export function createBreaker (
  now: () => number, onOpen: (circuit: Circuit, cause: OpenCause) => void = () => {}, onClose: () => void = () => {}
): Breaker {
  let state: State = { name: 'closed' }
  let wasCalled = false
  let failuresInARow = 0
  let lastFailure = ''
  let coolDownMs = FIRST_COOL_DOWN_MS
  let pause = { until: 0, reason: '' }
  /** The sum of the pauses since the last answer. */
  let pausedMs = 0

  function open (cause: OpenCause, reason: string, retryAt: number | null): void {
    state = { name: 'open', cause, reason, openedAt: now(), retryAt }
    onOpen(describe(), cause)
  }

  function close (): void {
    const wasOpen = state.name !== 'closed'
    if (wasOpen) state = { name: 'closed' }
    failuresInARow = 0
    pausedMs = 0
    coolDownMs = FIRST_COOL_DOWN_MS
    if (wasOpen) onClose()
  }

  /** Returns the current state, after the time that passed. */
  function current (): State {
    if (state.name === 'open' && state.retryAt !== null && now() >= state.retryAt) halfOpen(state)
    return state
  }

  function halfOpen ({ reason, openedAt }: Exclude<State, { name: 'closed' }>): void {
    state = { name: 'half_open', reason, openedAt, probe: null }
  }

  function recordFailure (message: string): void {
    failuresInARow++
    lastFailure = message
    const isProbe = state.name === 'half_open'
    if (!isProbe && failuresInARow < FAILURES_MAX) return
    if (isProbe) coolDownMs = Math.min(coolDownMs * 2, LONGEST_COOL_DOWN_MS)
    open('failures', `it failed ${failuresInARow} times in a row, most recently with: ${message}`, now() + coolDownMs)
  }

  function recordPause (message: string, wantedMs: number): void {
    const ms = Math.min(Math.max(wantedMs || 0, SHORTEST_PAUSE_MS), LONGEST_OPEN_MS)
    const until = now() + ms
    const reason = `it asks for a pause of ${Math.ceil(ms / 1_000)} s: ${message}`
    pausedMs += Math.max(0, until - Math.max(pause.until, now()))
    if (pausedMs > LONGEST_PAUSE_MS) {
      pausedMs = 0
      open('pause', reason, until)
      return
    }
    if (until > pause.until) pause = { until, reason }
    if (state.name === 'half_open') halfOpen(state)
  }

  function apply (outcome: CallOutcome): void {
    if (outcome.kind === 'answered') close()
    else if (outcome.kind === 'failed') recordFailure(outcome.message)
    else if (outcome.kind === 'paused') recordPause(outcome.message, outcome.ms)
    else if (outcome.kind === 'refused') open('credentials', outcome.message, null)
    else if (state.name === 'half_open') halfOpen(state)
  }

  function begin (given: State): CallPermit {
    wasCalled = true
    return {
      kind: 'call',
      end (outcome) {
        if (state !== given) return
        apply(outcome)
        if (given.name === 'half_open') given.probe?.end.resolve()
      }
    }
  }

  function probe ({ reason, openedAt }: Extract<State, { name: 'half_open' }>): CallPermit {
    state = { name: 'half_open', reason, openedAt, probe: { since: now(), end: Promise.withResolvers() } }
    return begin(state)
  }

  /** Returns the reason for not calling; null if a call is possible now or soon. */
  function refusal (): Refusal | null {
    const at = current()
    if (at.name === 'open') return { kind: 'refusal', reason: at.reason, retryAt: at.retryAt }
    const isProbeOverdue = at.name === 'half_open' && at.probe !== null && now() >= at.probe.since + PROBE_WAIT_MAX_MS
    return isProbeOverdue ? { kind: 'refusal', reason: at.reason, retryAt: null } : null
  }

  /** Returns why a closed circuit may open soon; null if the last call was answered. */
  const describeFailures = () => failuresInARow === 0
    ? null
    : `its last ${failuresInARow === 1 ? 'call' : `${failuresInARow} calls`} failed, most recently with: ${lastFailure}`

  function describe (): Circuit {
    const at = current()
    const paused = pause.until > now() ? pause : null
    return {
      state: at.name,
      reason: at.name === 'closed' ? paused?.reason ?? describeFailures() : at.reason,
      failures_in_a_row: failuresInARow,
      opened_at: at.name === 'closed' ? null : formatDate(at.openedAt),
      retry_at: formatDate(at.name === 'open' ? at.retryAt : paused?.until ?? null)
    }
  }

  return {
    refusal,
    requestCall () {
      const refused = refusal()
      if (refused !== null) return refused
      if (pause.until > now()) return { kind: 'wait', ms: pause.until - now(), probeEnd: null }
      if (state.name !== 'half_open') return begin(state)
      if (state.probe === null) return probe(state)
      const { since, end } = state.probe
      return { kind: 'wait', ms: since + PROBE_WAIT_MAX_MS - now(), probeEnd: end.promise }
    },
    allowProbe () {
      if (state.name === 'open' && state.cause !== 'pause') halfOpen(state)
    },
    view: () => wasCalled ? describe() : null
  }
}
