import { getPriority, setPriority } from 'node:os'

/**
 * The nice value of lower priority. A process with normal priority then gets three quarters of a shared processor.
 * Windows ignores so small a difference.
 */
const LOWER_BY = 5
/** The highest nice value: https://man7.org/linux/man-pages/man2/setpriority.2.html */
const LAST = 19

/** Lowers the priority of this process and of its later children, in favour of requests and sockets. */
export function lowerPriority (): void {
  try {
    setPriority(Math.min(LAST, getPriority() + LOWER_BY))
  } catch {
    // A sandbox may forbid it; then the priority stays normal.
  }
}
