import { signal } from '@preact/signals'
import { addressOf } from '../base.ts'
import { isProxyFailure } from './failure.ts'

/** True while the server answers. The shell shows a banner otherwise. */
export const isReachable = signal(true)

const PROBE_MS = 2_000
/** A probe without a response for so long is lost, because a heartbeat is read within milliseconds. */
const PROBE_MAX_MS = 10_000
const returnListeners = new Set<() => void>()
let probing: ReturnType<typeof setTimeout> | null = null

/**
 * Asks the server until it answers, because the request that failed is not repeated and there may be no socket. Only a
 * probe says that the server is gone: a request alone may fail because of a library that is not mounted, or a filter of
 * the browser.
 */
export async function probe (): Promise<void> {
  if (probing !== null) clearTimeout(probing)
  probing = null
  try {
    const { status } = await fetch(addressOf('api/heartbeat'), { cache: 'no-store', signal: AbortSignal.timeout(PROBE_MAX_MS) })
    reportReached(!isProxyFailure(status))
  } catch {
    reportReached(false)
  }
}

/** Records if the server answered the last request. */
export function reportReached (reached: boolean): void {
  const hasReturned = reached && !isReachable.value
  isReachable.value = reached
  if (!reached) probing ??= setTimeout(() => { void probe() }, PROBE_MS)
  if (hasReturned) for (const listener of returnListeners) listener()
}

/** Calls a function when the server answers again. */
export function onReturn (listener: () => void): void {
  returnListeners.add(listener)
}

const signedOutListeners = new Set<() => void>()

/** Calls a function when a request was refused because the session ended. */
export function onSignedOut (listener: () => void): void {
  signedOutListeners.add(listener)
}

export function reportSignedOut (): void {
  for (const listener of signedOutListeners) listener()
}
