import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Long enough for the first requests, which still allocate memory, to end. */
const STEADY_MS = 5_000
/** A process that uses a larger share of this time answers requests, which the collection would delay. */
const BUSY_SHARE = 0.02

/**
 * Releases the memory of loading and compiling, and the code of functions that only the start needed. V8 would keep
 * that memory until work fills the heap, which never happens on a mostly idle server. It would keep the code through
 * many collections, except those of its last resort. Such a collection blocks the process for a quarter of a second,
 * and the process then compiles again what it uses. A process that works therefore does it later.
 *
 * @param isBusy true while a job runs, which may wait for others
 */
export function releaseStartMemory (isBusy = () => false, steadyMs = STEADY_MS): void {
  const before = performance.eventLoopUtilization()
  setTimeout(() => {
    if (isBusy() || performance.eventLoopUtilization(before).utilization > BUSY_SHARE) {
      releaseStartMemory(isBusy, steadyMs)
      return
    }
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as (options: object) => void
    collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
  }, steadyMs).unref()
}

/** The growth of the heap, in per cent of the used part, before the next collection. */
export const COLLECT_SOONER = '--heap-growing-percent=75'

/**
 * Makes a process collect garbage sooner. V8 lets the heap of a busy process grow to four times the used part, hundreds
 * of megabytes. A scan lasts long enough to get there. A V8 without this setting prints a warning and continues. Call
 * it only after all modules are loaded, because loading makes little garbage.
 */
export function collectSooner (): void {
  setFlagsFromString(COLLECT_SOONER)
}
