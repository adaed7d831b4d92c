/**
 * Runs a plugin's work for at most `ms` milliseconds and not beyond the end of `outer`. A plugin that ignores its
 * signal must not hold its caller: its answer is no longer waited for.
 *
 * @param late what is said when the time is over, followed by how long that was
 * @throws Error with `late`, the reason of `outer`, and what the work throws
 */
export async function limitTime<T> (
  late: string, ms: number, outer: AbortSignal, work: (signal: AbortSignal) => Promise<T>
): Promise<T> {
  outer.throwIfAborted()
  // Not AbortSignal.any: a long-lived signal, such as that of a scan, would remember every call made under it.
  const ending = new AbortController()
  const { promise, reject } = Promise.withResolvers<never>()
  promise.catch(() => { /* seen by the race below, or no longer of interest */ })
  ending.signal.addEventListener('abort', () => { reject(ending.signal.reason as Error) })
  const stop = () => { ending.abort(outer.reason) }
  outer.addEventListener('abort', stop, { once: true })
  const timer = setTimeout(() => {
    ending.abort(new Error(`${late} ${ms / 1_000} s`))
  }, ms)
  try {
    return await Promise.race([work(ending.signal), promise])
  } finally {
    clearTimeout(timer)
    outer.removeEventListener('abort', stop)
  }
}
