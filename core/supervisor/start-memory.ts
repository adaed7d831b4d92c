import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Long enough for the first requests, which still allocate memory, to end. */
const STEADY_MS = 5_000

/**
 * Releases the memory of loading and compiling, and the code of functions that only the start needed. V8 would keep
 * that memory until work fills the heap, which never happens on a mostly idle server. It would keep the code through
 * many collections, except those of its last resort. Such a collection blocks the process for a while, so a process
 * with a running job does it after the job.
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
  }, STEADY_MS).unref()
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
