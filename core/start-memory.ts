import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Long enough for the first requests, which still allocate, to be over. */
const SETTLED_MS = 5_000

/**
 * Gives back what loading and compiling left on the heap. V8 would keep it until the process has work that fills the
 * heap, which on a server that mostly waits is never.
 */
export function releaseStartMemory (): void {
  setTimeout(() => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    collect()
  }, SETTLED_MS).unref()
}
