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
 * A circuit breaker (https://martinfowler.com/bliki/CircuitBreaker.html) for one provider, which decides whether calls
 * are allowed. It has no timers and computes the state whenever it is used.
 */
export class CircuitBreaker implements Breaker {
  readonly #now: () => number
  readonly #onOpen: (circuit: Circuit, cause: OpenCause) => void
  readonly #onClose: () => void
  #state: State = { name: 'closed' }
  #wasCalled = false
  #failuresInARow = 0
  #lastFailure = ''
  #coolDownMs = FIRST_COOL_DOWN_MS
  #pause = { until: 0, reason: '' }
  /** The sum of the pauses since the last answer. */
  #pausedMs = 0

  /**
   * @param onOpen called whenever the circuit opens
   * @param onClose called whenever the circuit closes after it was open
   */
  constructor (
    now: () => number, onOpen: (circuit: Circuit, cause: OpenCause) => void = () => {}, onClose: () => void = () => {}
  ) {
    this.#now = now
    this.#onOpen = onOpen
    this.#onClose = onClose
  }

  requestCall (): CallPermit {
    const refused = this.refusal()
    if (refused !== null) return refused
    if (this.#pause.until > this.#now()) return { kind: 'wait', ms: this.#pause.until - this.#now(), probeEnd: null }
    if (this.#state.name !== 'half_open') return this.#begin(this.#state)
    if (this.#state.probe === null) return this.#probe(this.#state)
    const { since, end } = this.#state.probe
    return { kind: 'wait', ms: since + PROBE_WAIT_MAX_MS - this.#now(), probeEnd: end.promise }
  }

  allowProbe (): void {
    if (this.#state.name === 'open' && this.#state.cause !== 'pause') this.#halfOpen(this.#state)
  }

  view (): Circuit | null {
    return this.#wasCalled ? this.#describe() : null
  }

  #open (cause: OpenCause, reason: string, retryAt: number | null): void {
    this.#state = { name: 'open', cause, reason, openedAt: this.#now(), retryAt }
    this.#onOpen(this.#describe(), cause)
  }

  #close (): void {
    const wasOpen = this.#state.name !== 'closed'
    if (wasOpen) this.#state = { name: 'closed' }
    this.#failuresInARow = 0
    this.#pausedMs = 0
    this.#coolDownMs = FIRST_COOL_DOWN_MS
    if (wasOpen) this.#onClose()
  }

  /** Returns the current state, after the time that passed. */
  #current (): State {
    if (this.#state.name === 'open' && this.#state.retryAt !== null && this.#now() >= this.#state.retryAt) this.#halfOpen(this.#state)
    return this.#state
  }

  #halfOpen ({ reason, openedAt }: Exclude<State, { name: 'closed' }>): void {
    this.#state = { name: 'half_open', reason, openedAt, probe: null }
  }

  #recordFailure (message: string): void {
    this.#failuresInARow++
    this.#lastFailure = message
    const isProbe = this.#state.name === 'half_open'
    if (!isProbe && this.#failuresInARow < FAILURES_MAX) return
    if (isProbe) this.#coolDownMs = Math.min(this.#coolDownMs * 2, LONGEST_COOL_DOWN_MS)
    this.#open('failures', `it failed ${this.#failuresInARow} times in a row, most recently with: ${message}`, this.#now() + this.#coolDownMs)
  }

  #recordPause (message: string, wantedMs: number): void {
    const ms = Math.min(Math.max(wantedMs || 0, SHORTEST_PAUSE_MS), LONGEST_OPEN_MS)
    const until = this.#now() + ms
    const reason = `it asks for a pause of ${Math.ceil(ms / 1_000)} s: ${message}`
    this.#pausedMs += Math.max(0, until - Math.max(this.#pause.until, this.#now()))
    if (this.#pausedMs > LONGEST_PAUSE_MS) {
      this.#pausedMs = 0
      this.#open('pause', reason, until)
      return
    }
    if (until > this.#pause.until) this.#pause = { until, reason }
    if (this.#state.name === 'half_open') this.#halfOpen(this.#state)
  }

  #apply (outcome: CallOutcome): void {
    if (outcome.kind === 'answered') this.#close()
    else if (outcome.kind === 'failed') this.#recordFailure(outcome.message)
    else if (outcome.kind === 'paused') this.#recordPause(outcome.message, outcome.ms)
    else if (outcome.kind === 'refused') this.#open('credentials', outcome.message, null)
    else if (this.#state.name === 'half_open') this.#halfOpen(this.#state)
  }

  #begin (given: State): CallPermit {
    this.#wasCalled = true
    return {
      kind: 'call',
      end: (outcome) => {
        if (this.#state !== given) return
        this.#apply(outcome)
        if (given.name === 'half_open') given.probe?.end.resolve()
      }
    }
  }

  #probe ({ reason, openedAt }: Extract<State, { name: 'half_open' }>): CallPermit {
    this.#state = { name: 'half_open', reason, openedAt, probe: { since: this.#now(), end: Promise.withResolvers() } }
    return this.#begin(this.#state)
  }

  /** Returns the reason for not calling; null if a call is possible now or soon. */
  refusal (): Refusal | null {
    const at = this.#current()
    if (at.name === 'open') return { kind: 'refusal', reason: at.reason, retryAt: at.retryAt }
    const isProbeOverdue = at.name === 'half_open' && at.probe !== null && this.#now() >= at.probe.since + PROBE_WAIT_MAX_MS
    return isProbeOverdue ? { kind: 'refusal', reason: at.reason, retryAt: null } : null
  }

  /** Returns why a closed circuit may open soon; null if the last call was answered. */
  #describeFailures (): string | null {
    if (this.#failuresInARow === 0) return null
    const calls = this.#failuresInARow === 1 ? 'call' : `${this.#failuresInARow} calls`
    return `its last ${calls} failed, most recently with: ${this.#lastFailure}`
  }

  #describe (): Circuit {
    const at = this.#current()
    const paused = this.#pause.until > this.#now() ? this.#pause : null
    return {
      state: at.name,
      reason: at.name === 'closed' ? paused?.reason ?? this.#describeFailures() : at.reason,
      failures_in_a_row: this.#failuresInARow,
      opened_at: at.name === 'closed' ? null : formatDate(at.openedAt),
      retry_at: formatDate(at.name === 'open' ? at.retryAt : paused?.until ?? null)
    }
  }
}
