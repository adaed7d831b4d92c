import { onAbort } from '../on-abort.ts'

/**
 * Stops the clock of a time limit until the returned function is called; with several holds, until the last one is
 * released.
 */
export type Hold = () => () => void

/** A plugin exceeded its time limit. */
export class TimeLimitError extends Error {
  override readonly name = 'TimeLimitError'
}

/**
 * Runs a plugin's work for at most `ms` milliseconds and no longer than `outer`. A plugin that ignores its signal must
 * not block its caller, so its result is then no longer awaited.
 *
 * @param late the beginning of the message on timeout; the limit follows
 * @throws TimeLimitError with `late`, the reason of `outer`, and the errors of the work
 */
export async function limitTime<T> (
  late: string, ms: number, outer: AbortSignal, work: (signal: AbortSignal, hold: Hold) => Promise<T>
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
  const clock = createClock(ms, () => { end(new TimeLimitError(`${late} ${ms / 1_000} s`)) })
  try {
    return await Promise.race([work(ending.signal, clock.hold), promise])
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
  let heldAt = 0
  let holds = 0
  let isOut = false
  let timer = setTimeout(runOut, ms)

  function runOut (): void {
    isOut = holds > 0
    if (isOut) return
    const leftMs = endsAt - performance.now()
    // Timers may be a millisecond early.
    if (leftMs < 1) onEnd()
    else timer = setTimeout(runOut, leftMs)
  }

  function release (): void {
    holds--
    if (holds > 0) return
    endsAt += performance.now() - heldAt
    if (isOut) runOut()
  }
  return {
    hold (): () => void {
      if (holds++ === 0) heldAt = performance.now()
      let isReleased = false
      return () => {
        if (!isReleased) release()
        isReleased = true
      }
    },
    stop () {
      holds = Infinity
      clearTimeout(timer)
    }
  }
}
