import { setTimeout as delay } from 'node:timers/promises'
import { RateLimitedError } from '@svc/plugin-sdk'

/** What came of one try. A failure knows whether another try may help and how long the service asked to wait. */
export type Outcome<Result> =
  | { readonly result: Result }
  | { readonly failure: Error, readonly again: boolean, readonly afterMs: number | null, readonly pauses: boolean }

export interface RetryOptions {
  readonly signal: AbortSignal
  /** Whether the request may be sent more than once. */
  readonly isRepeatable: boolean
  /** Whether a rate limit is told at once, to a caller that pauses all its requests and not just this one. */
  readonly tellsLimits: boolean
  /** Rejects with the reason of the signal when that is aborted first. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  /** From 0 up to, not including, 1. */
  readonly random: () => number
  /** Told how many milliseconds the service wants to be left alone. */
  readonly onPause: (ms: number) => void
}

const MAX_TRIES = 3
const FIRST_WAIT_MS = 1_000
const LONGEST_BACK_OFF_MS = 10_000

/** Longer than this nobody waits: the caller is told at once and decides. */
export const LONGEST_RETRY_AFTER_MS = 60_000

/**
 * Tries up to three times, waiting as long as the service asked, or a random part of an exponentially growing time
 * (full jitter: https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/).
 *
 * @throws the failure of the last try
 */
export async function tryAgain<Result> (
  attempt: () => Promise<Outcome<Result>>, options: RetryOptions
): Promise<Result> {
  for (let tries = 1; ; tries++) {
    const outcome = await attempt()
    if ('result' in outcome) return outcome.result
    const wait = outcome.afterMs ?? backOff(tries, options.random)
    if (outcome.pauses) options.onPause(wait)
    const isTold = options.tellsLimits && outcome.failure instanceof RateLimitedError
    const isWorthIt = outcome.again && !isTold && wait <= LONGEST_RETRY_AFTER_MS
    const mayTry = options.isRepeatable && isWorthIt && tries < MAX_TRIES
    if (!mayTry) throw outcome.failure
    await options.sleep(wait, options.signal)
  }
}

function backOff (tries: number, random: () => number): number {
  return Math.round(random() * Math.min(FIRST_WAIT_MS * 2 ** (tries - 1), LONGEST_BACK_OFF_MS))
}

/** The wait of a `Retry-After` header (RFC 9110 section 10.2.3: seconds or a date) in milliseconds, or null. */
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
