import { formatDate } from '../../core/typebox.ts'
import type { Circuit } from './schemas.ts'

/** A provider that failed this often without an answer in between is down. */
export const FAILURES_MAX = 8
/** How long it is left alone then, twice as long after every probe that fails, up to the longest. */
export const FIRST_COOL_DOWN_MS = 30_000
export const LONGEST_COOL_DOWN_MS = 10 * 60_000
/** A provider that wants longer, at once or bit by bit without an answer in between, is left out until then. */
export const LONGEST_PAUSE_MS = 15 * 60_000
/** How long other calls wait for what a probe finds out. */
export const PROBE_PATIENCE_MS = 5_000

/** A service that asks for no time at all is not asked in a tight loop. */
const SHORTEST_PAUSE_MS = 50
/** Later dates than this from now mean nothing, and far later ones are none. */
const LONGEST_OPEN_MS = 366 * 86_400_000

/** How a call ended. */
export type CallOutcome =
  { kind: 'answered' } |
  { kind: 'failed', message: string } |
  /** It asks to be left alone for so many milliseconds. */
  { kind: 'paused', message: string, ms: number } |
  /** It does not accept the credentials. */
  { kind: 'refused', message: string } |
  /** The caller gave up, which says nothing about the provider. */
  { kind: 'cancelled' }

/** Why a provider is not asked, and from when on it is: milliseconds since 1970, or null when nobody knows. */
export interface Refusal { kind: 'refusal', reason: string, retryAt: number | null }

export type Turn =
  /** The call is to be made now, and its end to be told. */
  { kind: 'call', end (outcome: CallOutcome): void } |
  /** Ask again after so many milliseconds, or as soon as `sooner` resolves. */
  { kind: 'wait', ms: number, sooner: Promise<void> | null } |
  Refusal

export interface Breaker {
  turn (): Turn
  /** What a call would be refused with, for callers that would have to queue for their turn. */
  refusal (): Refusal | null
  /**
   * Lets the next call try a provider that failed, without waiting for the cool-down, or that refused the credentials,
   * because a key may be renewed at the service. A pause that it asked for is kept.
   */
  probeNow (): void
  /** Null before the first call. */
  view (): Circuit | null
}

interface Probe { since: number, end: PromiseWithResolvers<void> }
export type Cause = 'failures' | 'pause' | 'credentials'
/** A call belongs to the very state it was made in: what older calls bring says nothing about the present one. */
type State =
  { name: 'closed' } |
  { name: 'open', cause: Cause, reason: string, openedAt: number, retryAt: number | null } |
  { name: 'half_open', reason: string, openedAt: number, probe: Probe | null }

/**
 * A circuit breaker (https://martinfowler.com/bliki/CircuitBreaker.html) for one provider: decides whether it may be
 * called. It has no timers; time passes when it is asked.
 *
 * @param onOpen told whenever the circuit opens
 */
export function createBreaker (
  now: () => number, onOpen: (circuit: Circuit, cause: Cause) => void = () => {}
): Breaker {
  let state: State = { name: 'closed' }
  let isAsked = false
  let failuresInARow = 0
  let lastFailure = ''
  let coolDownMs = FIRST_COOL_DOWN_MS
  let pause = { until: 0, reason: '' }
  /** Since the last answer. */
  let pausedMs = 0

  function open (cause: Cause, reason: string, retryAt: number | null): void {
    state = { name: 'open', cause, reason, openedAt: now(), retryAt }
    onOpen(describe(), cause)
  }

  function close (): void {
    if (state.name !== 'closed') state = { name: 'closed' }
    failuresInARow = 0
    pausedMs = 0
    coolDownMs = FIRST_COOL_DOWN_MS
  }

  /** The state after the time that passed. */
  function current (): State {
    if (state.name === 'open' && state.retryAt !== null && now() >= state.retryAt) halfOpen(state)
    return state
  }

  function halfOpen ({ reason, openedAt }: Exclude<State, { name: 'closed' }>): void {
    state = { name: 'half_open', reason, openedAt, probe: null }
  }

  function noteFailure (message: string): void {
    failuresInARow++
    lastFailure = message
    const isProbe = state.name === 'half_open'
    if (!isProbe && failuresInARow < FAILURES_MAX) return
    if (isProbe) coolDownMs = Math.min(coolDownMs * 2, LONGEST_COOL_DOWN_MS)
    open('failures', `it failed ${failuresInARow} times in a row, at last with: ${message}`, now() + coolDownMs)
  }

  function notePause (message: string, wantedMs: number): void {
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
    else if (outcome.kind === 'failed') noteFailure(outcome.message)
    else if (outcome.kind === 'paused') notePause(outcome.message, outcome.ms)
    else if (outcome.kind === 'refused') open('credentials', outcome.message, null)
    else if (state.name === 'half_open') halfOpen(state)
  }

  function begin (given: State): Turn {
    isAsked = true
    return {
      kind: 'call',
      end (outcome) {
        if (state !== given) return
        apply(outcome)
        if (given.name === 'half_open') given.probe?.end.resolve()
      }
    }
  }

  function probe ({ reason, openedAt }: Extract<State, { name: 'half_open' }>): Turn {
    state = { name: 'half_open', reason, openedAt, probe: { since: now(), end: Promise.withResolvers() } }
    return begin(state)
  }

  /** Null when a call may be made, or will be able to soon. */
  function refusal (): Refusal | null {
    const at = current()
    if (at.name === 'open') return { kind: 'refusal', reason: at.reason, retryAt: at.retryAt }
    const isHeldUp = at.name === 'half_open' && at.probe !== null && now() >= at.probe.since + PROBE_PATIENCE_MS
    return isHeldUp ? { kind: 'refusal', reason: at.reason, retryAt: null } : null
  }

  /** Why a closed circuit may open soon; null when the last call was answered. */
  const describeFailures = () => failuresInARow === 0
    ? null
    : `its last ${failuresInARow === 1 ? 'call' : `${failuresInARow} calls`} failed, at last with: ${lastFailure}`

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
    turn () {
      const refused = refusal()
      if (refused !== null) return refused
      if (pause.until > now()) return { kind: 'wait', ms: pause.until - now(), sooner: null }
      if (state.name !== 'half_open') return begin(state)
      if (state.probe === null) return probe(state)
      const { since, end } = state.probe
      return { kind: 'wait', ms: since + PROBE_PATIENCE_MS - now(), sooner: end.promise }
    },
    probeNow () {
      if (state.name === 'open' && state.cause !== 'pause') halfOpen(state)
    },
    view: () => isAsked ? describe() : null
  }
}
