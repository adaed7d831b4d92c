/**
 * Runs a plugin's work for at most `ms` milliseconds and not beyond the end of the scan. A plugin that ignores its
 * signal must not hold the scan: its answer is no longer waited for.
 *
 * @throws Error saying how long was waited, the reason of `outer`, and what the work throws
 */
export async function limitTime<T> (
  key: string, ms: number, outer: AbortSignal, work: (signal: AbortSignal) => Promise<T>
): Promise<T> {
  outer.throwIfAborted()
  // Not AbortSignal.any: a scan has one long-lived signal, which would remember every call made under it.
  const ending = new AbortController()
  const { promise, reject } = Promise.withResolvers<never>()
  promise.catch(() => { /* seen by the race below, or no longer of interest */ })
  ending.signal.addEventListener('abort', () => { reject(ending.signal.reason as Error) })
  const stop = () => { ending.abort(outer.reason) }
  outer.addEventListener('abort', stop, { once: true })
  const timer = setTimeout(() => {
    ending.abort(new Error(`Provider '${key}' did not answer within ${ms / 1_000} s`))
  }, ms)
  try {
    return await Promise.race([work(ending.signal), promise])
  } finally {
    clearTimeout(timer)
    outer.removeEventListener('abort', stop)
  }
}
