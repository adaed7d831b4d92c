import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { WORKER_GROWTH } from './node-flags.ts'

/** Long enough for the first requests, which still allocate, to be over. */
const SETTLED_MS = 5_000

/**
 * Gives back what loading and compiling left on the heap, and the code of functions that only starting needed. V8 would
 * keep it until the process has work that fills the heap, which on a server that mostly waits is never; and the code
 * through many collections, but for the kind that is its last resort.
 */
export function releaseStartMemory (): void {
  setTimeout(() => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as (options: object) => void
    collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
  }, SETTLED_MS).unref()
}

/** Has a scan worker that was started without the flags of one collect its garbage as soon as others do. */
export function collectSooner (): void {
  setFlagsFromString(WORKER_GROWTH)
}
