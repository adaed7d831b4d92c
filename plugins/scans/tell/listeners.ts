import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'

/**
 * Of one kind of event, over all who listen. Each delivery costs a web worker some 20 µs and its client more, which may
 * run beside it: what they need is missing to the scan and to requests.
 */
const DELIVERIES_PER_SECOND = 500
/** Of events that come together: who is told last waits until all others had all of them. */
const DELIVERIES_AT_ONCE = 1_000
const COUNT_MS = 2_000
/** What the first events wait for the first count. */
const PATIENCE_MS = 500

/** How many hear of a scan, which decides how often they are told. */
export interface Listeners {
  /** Resolves when they were counted once, or soon. */
  counted: Promise<unknown>
  /** False while nobody is told: what only events are made of need not be read then. */
  areThere (): boolean
  /** So many events a second, or fewer where there are many to tell. */
  limit (perSecond: number): number
  /** So many events together, or fewer where there are many to tell, but one. */
  atOnce (events: number): number
  close (): void
}

export function createListeners (app: FastifyInstance, log: Pick<Logger, 'warn'>): Listeners {
  // Until it is known, somebody may hear.
  let count = 1
  const closed = new AbortController()

  async function ask (): Promise<void> {
    try {
      count = await app.sockets.countConnections()
    } catch (err) {
      // A web worker that ended does not answer.
      if (!closed.signal.aborted) log.warn({ err }, 'those who listen could not be counted; the last count holds')
    }
  }

  const timer = setInterval(() => { void ask() }, COUNT_MS).unref()
  return {
    counted: Promise.race([ask(), pause(PATIENCE_MS, undefined, { signal: closed.signal }).catch(() => {})]),
    areThere: () => count > 0,
    limit: (perSecond) => Math.min(perSecond, DELIVERIES_PER_SECOND / Math.max(1, count)),
    atOnce: (events) => Math.max(1, Math.min(events, DELIVERIES_AT_ONCE / Math.max(1, count))),
    close () {
      clearInterval(timer)
      closed.abort()
    }
  }
}
