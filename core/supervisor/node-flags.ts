const FLAGS = ['--conditions=svc:source', '--disable-warning=ExperimentalWarning']

/** V8 would let its nursery for new objects grow to 64 MB in each process. */
export const WEB_FLAGS = [...FLAGS, '--max-semi-space-size=4']

/**
 * Old garbage V8 lets pile up to four times what is alive, which in a scan are hundreds of megabytes; with these per
 * cent on top of that instead, it collects a little more often.
 */
export const WORKER_GROWTH = '--heap-growing-percent=75'

/**
 * What belongs to a lookup lives as long as a source takes to answer. In a smaller nursery it would outlive two
 * collections, which makes it old.
 */
export const WORKER_FLAGS = [...FLAGS, '--max-semi-space-size=16', WORKER_GROWTH]
