interface SharedListener { callbacks: Set<() => void>, listener: () => void }

const shared = new WeakMap<AbortSignal, SharedListener>()

function share (signal: AbortSignal): SharedListener {
  const callbacks = new Set<() => void>()
  const listener = () => { for (const callback of callbacks) callback() }
  signal.addEventListener('abort', listener, { once: true })
  return { callbacks, listener }
}

/**
 * Calls back when a signal with many waiters aborts. Node walks all listeners of a signal whenever one is added or
 * removed, so all callbacks share one listener here. A signal that has already aborted calls nothing.
 *
 * @returns a function that removes the callback
 */
export function onAbort (signal: AbortSignal, callback: () => void): () => void {
  const entry = shared.get(signal) ?? share(signal)
  shared.set(signal, entry)
  entry.callbacks.add(callback)
  return () => {
    entry.callbacks.delete(callback)
    if (entry.callbacks.size > 0 || shared.get(signal) !== entry) return
    shared.delete(signal)
    signal.removeEventListener('abort', entry.listener)
  }
}
