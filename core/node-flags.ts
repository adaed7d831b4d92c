/**
 * Keeps SIGUSR1 from opening Node's debugger, which runs any code in a process for whoever reaches its port. Node has
 * the flag since 23.7, and `core/svc.js` starts nothing older than 24.
 */
export const DISABLE_DEBUGGER = '--disable-sigusr1'

const FLAGS = ['--conditions=svc:source', '--disable-warning=ExperimentalWarning', DISABLE_DEBUGGER]

/** V8 would let its nursery for new objects grow to 64 MB in each process. */
export const WEB_FLAGS = [...FLAGS, '--max-semi-space-size=4']

/**
 * What belongs to a lookup lives as long as a source takes to answer. In a smaller nursery it would outlive two
 * collections, which makes it old.
 */
export const WORKER_FLAGS = [...FLAGS, '--max-semi-space-size=16']
