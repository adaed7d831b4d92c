/** The most messages without a response in one window, by method: far more than a scan of many ROMs sends. */
const LIMITS: ReadonlyMap<string, number> = new Map(
  ['log', 'report', 'explain', 'http.setLimits', 'http.setAllowance'].map((method) => [method, 1_000]))
const WINDOW_MS = 10_000

/**
 * Limits the rate of messages that nobody waits for, such as log lines, because a plugin could send them without end.
 *
 * @param onDropped called at the end of a window with the number of messages that were too many
 * @returns a function that is true if one more message of a method is passed on
 */
export function createMessageLimits (onDropped: (dropped: number, method: string) => void) {
  const counts = new Map<string, number>()
  return (method: string): boolean => {
    const limit = LIMITS.get(method)
    if (limit === undefined) return true
    const count = (counts.get(method) ?? 0) + 1
    counts.set(method, count)
    if (count === 1) {
      setTimeout(() => {
        const total = counts.get(method) ?? 0
        counts.delete(method)
        if (total > limit) onDropped(total - limit, method)
      }, WINDOW_MS).unref()
    }
    return count <= limit
  }
}
