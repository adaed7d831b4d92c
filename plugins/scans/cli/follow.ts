import { isDeepStrictEqual } from 'node:util'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ScanState, ScanView } from './progress.ts'

const POLL_MS = 400
const ENDED = new Set(['finished', 'failed', 'stopped', 'canceled'])

/**
 * Shows each change of a scan until the scan ends.
 *
 * @returns the last state; null if `signal` ended the watching first
 */
export async function followScan (
  read: () => Promise<ScanState>, view: ScanView, signal: AbortSignal
): Promise<ScanState | null> {
  let shown: ScanState | null = null
  while (!signal.aborted) {
    const state = await read()
    if (ENDED.has(state.status)) {
      view.end(state)
      return state
    }
    if (!isDeepStrictEqual(state, shown)) view.update(state)
    shown = state
    // The signal ends the sleep early; the loop then sees the abort.
    await sleep(POLL_MS, undefined, { signal }).catch(() => undefined)
  }
  return null
}
