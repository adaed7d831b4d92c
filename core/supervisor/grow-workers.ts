import { cpus } from 'node:os'

/** Web workers from the start: while one of them restarts, the other one serves requests. */
export const FIRST_WEB_WORKERS = 2
/** The busy share of a web worker's time at which requests wait for it. */
const BUSY = 0.7
/** The share of a processor that must be free, because another process would otherwise slow down the running ones. */
const FREE_PROCESSOR = 0.5

/** Returns the idle time of all processors together, in milliseconds since the machine started. */
const readIdleMs = () => cpus().reduce((sum, { times }) => sum + times.idle, 0)

export interface GrowthOptions {
  /** Returns the busy share of each web worker, 0 to 1, in the last interval. */
  listBusy (): readonly number[]
  /** Starts another web worker. */
  grow (): void
  readIdleMs? (): number
}

/**
 * Creates the check that starts web workers.
 *
 * @returns a function to call every few seconds. It starts a worker if all were busy twice in a row while a processor
 * had enough idle time for one more
 */
export function createGrowth ({ listBusy, grow, readIdleMs: readIdle = readIdleMs }: GrowthOptions) {
  let last: { at: number, idleMs: number } | null = null

  return (now = performance.now()): void => {
    const before = last
    last = null
    if (!listBusy().every((share) => share >= BUSY)) return
    const idleMs = readIdle()
    if (before === null || idleMs - before.idleMs < (now - before.at) * FREE_PROCESSOR) last = { at: now, idleMs }
    else grow()
  }
}
