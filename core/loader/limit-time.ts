import { onAbort } from '../on-abort.ts'

/** Stops the clock of a time limit until what it returns is called; with several holds, until the last is. */
export type Hold = () => () => void

/** A plugin's work took longer than it may. */
export class TimeLimitError extends Error {
  override readonly name = 'TimeLimitError'
}

/**
 * Runs a plugin's work for at most `ms` milliseconds and not beyond the end of `outer`. A plugin that ignores its
 * signal must not hold its caller: its answer is no longer waited for.
 *
 * @param late what is said when the time is over, followed by how long that was
 * @throws TimeLimitError with `late`, the reason of `outer`, and what the work throws
 */
export async function limitTime<T> (
  late: string, ms: number, outer: AbortSignal, work: (signal: AbortSignal, hold: Hold) => Promise<T>
): Promise<T> {
  outer.throwIfAborted()
  // Not AbortSignal.any: a long-lived signal, such as that of a scan, would remember every call made under it.
  const ending = new AbortController()
  const { promise, reject } = Promise.withResolvers<never>()
  promise.catch(() => { /* seen by the race below, or no longer of interest */ })
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

/** Nothing ends it but its time. */
export const NEVER = new AbortController().signal

/** One timer, however often the clock stands still: it is set again when it ran out before its time. */
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
