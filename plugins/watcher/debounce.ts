/** Changes without an end delay a scan for this many delays. */
const DELAYS_MAX = 12

/** The platform that changed; null stands for any. */
export type ChangedPath = string | null

/** Decides when changes have come to rest. */
export interface Debounce {
  change (path: ChangedPath): void
  /** True if a write counts. Writes count only after something appeared or vanished there recently, as in a copy. */
  isBusy (path: ChangedPath): boolean
  /** True if nothing changed for a delay, or if the first change is too old to wait longer. */
  isDue (): boolean
  msSinceLast (): number
  /** Delays a scan that failed to start. */
  postpone (): void
  /** Marks the changes so far as handled, except the last one if `keepsLast` is true. */
  finishChanges (keepsLast: boolean): void
}

/** Creates a debounce; times are milliseconds. */
export function createDebounce (delay: number, now: () => number = () => performance.now()): Debounce {
  const busy = new Map<ChangedPath, number>()
  let first: number | null = null
  let last = -Infinity

  return {
    change (path) {
      last = now()
      first ??= last
      busy.set(path, last)
    },
    isBusy (path) {
      const busySince = Math.max(busy.get(path) ?? -Infinity, busy.get(null) ?? -Infinity)
      if (now() - busySince <= DELAYS_MAX * delay) return true
      busy.delete(path)
      return false
    },
    isDue: () => first !== null && (now() - last >= delay || now() - first >= DELAYS_MAX * delay),
    msSinceLast: () => now() - last,
    postpone () {
      last = now()
      first = last
    },
    finishChanges (keepsLast) { first = keepsLast ? last : null }
  }
}
