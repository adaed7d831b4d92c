import { signal } from '@preact/signals'

/** True while the server answers. The shell shows a banner otherwise. */
export const isReachable = signal(true)

/** Records if the server answered the last request. */
export function reportReached (reached: boolean): void {
  isReachable.value = reached
}

const signedOutListeners = new Set<() => void>()

/** Calls a function when a request was refused because the session ended. */
export function onSignedOut (listener: () => void): void {
  signedOutListeners.add(listener)
}

export function reportSignedOut (): void {
  for (const listener of signedOutListeners) listener()
}
