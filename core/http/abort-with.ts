import { onAbort } from '../on-abort.ts'

/**
 * Runs work under a controller that ends with the first of `signals`, and which the work may end itself. Not
 * AbortSignal.any, whose weak references cost more than a request does, and which a signal that lives long remembers
 * for ever.
 *
 * @throws the reason of a signal that ended before the work began, and what the work throws
 */
export async function endWith<T> (
  signals: readonly AbortSignal[], work: (ending: AbortController) => Promise<T>
): Promise<T> {
  for (const signal of signals) signal.throwIfAborted()
  const ending = new AbortController()
  const stops = signals.map((signal) => onAbort(signal, () => { ending.abort(signal.reason) }))
  try {
    return await work(ending)
  } finally {
    for (const stop of stops) stop()
  }
}
