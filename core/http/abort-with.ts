import { onAbort } from '../concurrency/on-abort.ts'

/**
 * Runs work under a controller that aborts with the first of `signals`, and which the work may abort itself.
 * AbortSignal.any is not used: its weak references cost more than a request does, and a long-lived signal keeps them
 * for ever.
 *
 * @throws the reason of a signal that aborted before the work began, and the errors of the work
 */
export async function abortWith<T> (
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
