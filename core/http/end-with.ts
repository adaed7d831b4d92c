/**
 * Runs work under a signal that ends with the first of `signals`, or when the work calls `end`. Not AbortSignal.any,
 * whose weak references cost more than a request does, and which a signal that lives long remembers for ever.
 *
 * @throws the reason of a signal that ended before the work began, and what the work throws
 */
export async function endWith<T> (
  signals: readonly AbortSignal[], work: (signal: AbortSignal, end: (reason: unknown) => void) => Promise<T>
): Promise<T> {
  for (const signal of signals) signal.throwIfAborted()
  const ending = new AbortController()
  const onAbort = ({ target }: Event) => { ending.abort((target as AbortSignal).reason) }
  for (const signal of signals) signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await work(ending.signal, (reason) => { ending.abort(reason) })
  } finally {
    for (const signal of signals) signal.removeEventListener('abort', onAbort)
  }
}
