/** A change that never ends puts a scan off for this many delays. */
const DELAYS_MAX = 12

/** What changed; null stands for anything. */
export type ChangedPath = string | null

/** Says when changes have come to rest. */
export interface Debounce {
  change (place: ChangedPath): void
  /** Whether writing to a place counts: only where something appeared or vanished not long ago, as in a copy. */
  isBusy (place: ChangedPath): boolean
  /** Whether nothing changed for a delay, or the first change is too long ago to wait for that. */
  isDue (): boolean
  sinceLast (): number
  /** Puts off what failed. */
  postpone (): void
  /** What changed so far is dealt with, but for the last change when it `isLeft`. */
  finishChanges (isLeft: boolean): void
}

/** Times are milliseconds. */
export function createDebounce (delay: number, now: () => number = () => performance.now()): Debounce {
  const busy = new Map<ChangedPath, number>()
  let first: number | null = null
  let last = -Infinity

  return {
    change (place) {
      last = now()
      first ??= last
      busy.set(place, last)
    },
    isBusy (place) {
      const since = Math.max(busy.get(place) ?? -Infinity, busy.get(null) ?? -Infinity)
      if (now() - since <= DELAYS_MAX * delay) return true
      busy.delete(place)
      return false
    },
    isDue: () => first !== null && (now() - last >= delay || now() - first >= DELAYS_MAX * delay),
    sinceLast: () => now() - last,
    postpone () {
      last = now()
      first = last
    },
    finishChanges (isLeft) { first = isLeft ? last : null }
  }
}
