interface Shared { callbacks: Set<() => void>, listener: () => void }

const shared = new WeakMap<AbortSignal, Shared>()

function share (signal: AbortSignal): Shared {
  const callbacks = new Set<() => void>()
  const listener = () => { for (const callback of callbacks) callback() }
  signal.addEventListener('abort', listener, { once: true })
  return { callbacks, listener }
}

/**
 * Calls back when a signal that many wait for ends: Node goes through all listeners of a signal whenever one is added
 * or removed, so here they have one together. Of a signal that ended already nobody hears.
 *
 * @returns what ends the waiting
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
