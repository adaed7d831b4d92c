import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Long enough for the first requests, which still allocate, to be over. */
const SETTLED_MS = 5_000

/**
 * Gives back what loading and compiling left on the heap, and the code of functions that only starting needed. V8 would
 * keep it until the process has work that fills the heap, which on a server that mostly waits is never; and the code
 * through many collections, but for the kind that is its last resort. That stops the process for a while: one that does
 * a job by then is left alone until it has done it.
 */
export function releaseStartMemory (isBusy = () => false): void {
  setTimeout(() => {
    if (isBusy()) {
      releaseStartMemory(isBusy)
      return
    }
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as (options: object) => void
    collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
  }, SETTLED_MS).unref()
}

/** What the heap may grow by, in per cent of what is in use, before it is collected again. */
export const COLLECT_SOONER = '--heap-growing-percent=75'

/**
 * Has a process that makes much garbage collect it sooner. V8 lets the heap of a busy one grow to as much as four times
 * what is in use, hundreds of megabytes, and a scan lasts long enough to get there. A V8 without this setting says so
 * and goes on. Only for a process whose modules are loaded, which makes no garbage worth the time.
 */
export function collectSooner (): void {
  setFlagsFromString(COLLECT_SOONER)
}
