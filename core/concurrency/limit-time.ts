import { onAbort } from './on-abort.ts'

/**
 * Stops the clock of a time limit until the returned function is called; with several holds, until the last one is
 * released.
 */
export type PauseClock = () => () => void

/** Work exceeded its time limit. */
export class TimeLimitError extends Error {
  override readonly name = 'TimeLimitError'
}

/**
 * Runs work for at most `ms` milliseconds and no longer than `outer`. Work that ignores its signal, such as that of a
 * plugin, must not block its caller, so its result is then no longer awaited.
 *
 * @param timeoutMessage the beginning of the message on timeout; the limit follows
 * @throws TimeLimitError with `timeoutMessage`, the reason of `outer`, and the errors of the work
 */
export async function limitTime<T> (
  timeoutMessage: string, ms: number, outer: AbortSignal, work: (
    signal: AbortSignal, pauseClock: PauseClock
  ) => Promise<T>
): Promise<T> {
  outer.throwIfAborted()
  // AbortSignal.any is not used: a long-lived signal, such as that of a scan, would keep every call made under it.
  const ending = new AbortController()
  const { promise, reject } = Promise.withResolvers<never>()
  promise.catch(() => { /* the race below rejects with it, or has already ended */ })
  const end = (reason: unknown) => {
    reject(reason)
    ending.abort(reason)
  }
  const stop = onAbort(outer, () => { end(outer.reason) })
  const clock = createClock(ms, () => { end(new TimeLimitError(`${timeoutMessage} ${ms / 1_000} s`)) })
  try {
    return await Promise.race([work(ending.signal, clock.pause), promise])
  } finally {
    clock.stop()
    stop()
  }
}

/** A signal that never aborts. */
export const NEVER = new AbortController().signal

/** Creates a clock with one timer, even if it is often stopped: a timer that fires too early is set again. */
function createClock (ms: number, onEnd: () => void) {
  let endsAt = performance.now() + ms
  let pausedAt = 0
  let pauses = 0
  let hasFired = false
  let timer = setTimeout(runOut, ms)

  function runOut (): void {
    hasFired = pauses > 0
    if (hasFired) return
    const leftMs = endsAt - performance.now()
    // Timers may be a millisecond early.
    if (leftMs < 1) onEnd()
    else timer = setTimeout(runOut, leftMs)
  }

  function resume (): void {
    pauses--
    if (pauses > 0) return
    endsAt += performance.now() - pausedAt
    if (hasFired) runOut()
  }
  return {
    pause (): () => void {
      if (pauses++ === 0) pausedAt = performance.now()
      let isResumed = false
      return () => {
        if (!isResumed) resume()
        isResumed = true
      }
    },
    stop () {
      pauses = Infinity
      clearTimeout(timer)
    }
  }
}
