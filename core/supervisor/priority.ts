import { getPriority, setPriority } from 'node:os'

/** Where two want the same processor, the other one gets three quarters of it. Windows takes no notice of so little. */
const BEHIND = 5
/** https://man7.org/linux/man-pages/man2/setpriority.2.html */
const LAST = 19

/** Has this process, and those that it starts from now on, give way to requests and sockets. */
export function giveWay (): void {
  try {
    setPriority(Math.min(LAST, getPriority() + BEHIND))
  } catch {
    // Where a sandbox forbids it, it works as before.
  }
}
