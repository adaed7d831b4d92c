import { setTimeout as delay } from 'node:timers/promises'
import { RateLimitedError } from '@svc/plugin-sdk'

/** The outcome of one attempt. A failure tells whether a retry may help and how long the service asked to wait. */
export type Outcome<Result> =
  | { readonly result: Result }
  | {
    readonly failure: Error
    readonly mayRetry: boolean
    readonly retryAfterMs: number | null
    readonly isPauseRequested: boolean
  }

export interface RetryOptions {
  readonly signal: AbortSignal
  /** True if the request may be sent more than once. */
  readonly isRepeatable: boolean
  /** True if a rate limit is reported at once, to a caller that pauses all its requests. */
  readonly throwsRateLimits: boolean
  /** Waits; rejects with the reason of the signal if it aborts first. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  /** Returns a number from 0 up to, not including, 1. */
  readonly random: () => number
  /** Called with the pause in milliseconds that the service asked for. */
  readonly onPause: (ms: number) => void
}

const MAX_TRIES = 3
const FIRST_WAIT_MS = 1_000
const LONGEST_BACK_OFF_MS = 10_000

/** The longest wait. If the service asks for a longer one, the caller gets the error at once and decides. */
const LONGEST_RETRY_AFTER_MS = 60_000

/**
 * Makes up to three attempts, and waits between them as long as the service asked, or for a random backoff that grows
 * exponentially (full jitter: https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/).
 *
 * @throws the failure of the last attempt
 */
export async function runWithRetries<Result> (
  attempt: () => Promise<Outcome<Result>>, options: RetryOptions
): Promise<Result> {
  for (let attempts = 1; ; attempts++) {
    const outcome = await attempt()
    if ('result' in outcome) return outcome.result
    const wait = outcome.retryAfterMs ?? backOff(attempts, options.random)
    if (outcome.isPauseRequested) options.onPause(wait)
    const isThrownAtOnce = options.throwsRateLimits && outcome.failure instanceof RateLimitedError
    const canHelp = outcome.mayRetry && !isThrownAtOnce && wait <= LONGEST_RETRY_AFTER_MS
    const willRetry = options.isRepeatable && canHelp && attempts < MAX_TRIES
    if (!willRetry) throw outcome.failure
    await options.sleep(wait, options.signal)
  }
}

function backOff (attempts: number, random: () => number): number {
  return Math.round(random() * Math.min(FIRST_WAIT_MS * 2 ** (attempts - 1), LONGEST_BACK_OFF_MS))
}

/** Returns the wait of a `Retry-After` header (RFC 9110 section 10.2.3: seconds or a date) in milliseconds, or null. */
export function parseRetryAfter (header: string | undefined, now: number): number | null {
  const text = header?.trim() ?? ''
  if (/^\d+(?:\.\d+)?$/.test(text)) return Math.ceil(Number(text) * 1000)
  const date = /[a-z]/i.test(text) ? Date.parse(text) : NaN
  return Number.isNaN(date) ? null : Math.max(0, date - now)
}

export async function sleep (ms: number, signal: AbortSignal): Promise<void> {
  try {
    await delay(ms, undefined, { signal })
  } catch (err) {
    signal.throwIfAborted()
    throw err
  }
}
