/**
 * Keeps SIGUSR1 from opening Node's debugger, which runs any code for anyone who can reach its port. Node has the flag
 * since 23.7, and `core/svc.js` starts no version older than 24.
 */
export const DISABLE_DEBUGGER = '--disable-sigusr1'

const FLAGS = ['--conditions=svc:source', '--disable-warning=ExperimentalWarning', DISABLE_DEBUGGER]

/** V8 would let its young generation, the space for new objects, grow to 64 MB in each process. */
export const WEB_FLAGS = [...FLAGS, '--max-semi-space-size=4']

/**
 * Objects of a lookup live as long as a provider takes to answer. In a smaller young generation they would survive two
 * collections, which moves them to the old generation.
 */
export const WORKER_FLAGS = [...FLAGS, '--max-semi-space-size=16']
