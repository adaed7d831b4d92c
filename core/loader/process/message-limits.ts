import { isNotification } from './context-calls.ts'

/** The most messages of one method in one window: far more than a scan of many ROMs sends. */
const MESSAGES_MAX = 1_000
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
    if (!isNotification(method)) return true
    const count = (counts.get(method) ?? 0) + 1
    counts.set(method, count)
    if (count === 1) {
      setTimeout(() => {
        const total = counts.get(method) ?? 0
        counts.delete(method)
        if (total > MESSAGES_MAX) onDropped(total - MESSAGES_MAX, method)
      }, WINDOW_MS).unref()
    }
    return count <= MESSAGES_MAX
  }
}
