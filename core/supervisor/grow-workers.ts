import { cpus } from 'node:os'

/** Web workers that are there from the start: while one of them starts again, the other one answers. */
export const FIRST_WEB_WORKERS = 2
/** The share of its time that a web worker works when requests wait for it. */
const BUSY = 0.7
/** How much of a processor has to be free: another process would else take from those that are there. */
const FREE_PROCESSOR = 0.5

/** What all processors together had nothing to do, in milliseconds since the machine started. */
const readIdleMs = () => cpus().reduce((sum, { times }) => sum + times.idle, 0)

export interface GrowthOptions {
  /** The shares of its time, 0 to 1, that each web worker worked lately. */
  listBusy (): readonly number[]
  /** Has another web worker start. */
  grow (): void
  readIdleMs? (): number
}

/**
 * @returns looks at the web workers; called every few seconds, it has another one start when all were busy twice in a
 * row, and a processor had time for one more meanwhile
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
