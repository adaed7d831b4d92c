import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'

/** Events per second at most; fewer when many clients listen. */
export const PER_SECOND = { roms: 40, stats: 4 }
type Kind = keyof typeof PER_SECOND

/**
 * Deliveries per second, over all events and listeners. Each delivery costs a web worker some 20 µs and its client
 * more. The client may run on the same machine, and this time is lost to the scan and to requests.
 */
const DELIVERIES_PER_SECOND = 1_000
/** Deliveries of one burst. The last listener waits until all others got all its events. */
const DELIVERIES_AT_ONCE = 1_000
/** Deliveries per second that are certain to be written and read, beside a scan that uses all processors. */
const WRITTEN_PER_SECOND = 5_000
const COUNT_MS = 2_000
/** The longest time that the first events wait for the first count, in milliseconds. */
const FIRST_COUNT_MS = 500

/** Counts the clients that listen to a scan, and decides how often they get events. */
export interface Listeners {
  /** Resolves after the first count of listeners, or after a short wait. */
  counted: Promise<unknown>
  /** True if a client listens. Data that only events use need not be read otherwise. */
  hasAny (): boolean
  /**
   * Returns the events of a kind per second: half of all deliveries, and more if the other kind does not use its half.
   */
  perSecond (kind: Kind): number
  /**
   * Returns how many of these events may be sent now. With many listeners none may, until the last events are written.
   */
  reserve (events: number): number
  /** Counts events that cannot wait. Other events wait until these are written. */
  countUrgent (events: number): void
  close (): void
}

export function createListeners (app: FastifyInstance, log: Pick<Logger, 'warn'>): Listeners {
  // Assume a listener until the first count.
  let count = 1
  /** Deliveries that may be added to those in flight; negative after events that could not wait. */
  let capacity = DELIVERIES_AT_ONCE
  let countedAt = performance.now()
  const closed = new AbortController()

  async function countListeners (): Promise<void> {
    try {
      count = await app.sockets.countConnections()
    } catch (err) {
      // A web worker that ended does not answer the count.
      if (!closed.signal.aborted) log.warn({ err }, 'the listeners could not be counted; the last count is used')
    }
  }

  const countAtLeastOne = () => Math.max(1, count)

  function countUrgent (events: number): void {
    const now = performance.now()
    const written = (now - countedAt) / 1_000 * WRITTEN_PER_SECOND
    capacity = Math.min(
      Math.max(DELIVERIES_AT_ONCE, countAtLeastOne()), capacity + written
    ) - events * countAtLeastOne()
    countedAt = now
  }

  function reserve (events: number): number {
    countUrgent(0)
    const reserved = Math.min(events, Math.max(0, Math.floor(capacity / countAtLeastOne())))
    countUrgent(reserved)
    return reserved
  }

  const timer = setInterval(() => { void countListeners() }, COUNT_MS).unref()
  return {
    counted: Promise.race(
      [countListeners(), pause(FIRST_COUNT_MS, undefined, { signal: closed.signal }).catch(() => {})]
    ),
    hasAny: () => count > 0,
    perSecond (kind) {
      const all = DELIVERIES_PER_SECOND / countAtLeastOne()
      const others = kind === 'roms' ? PER_SECOND.stats : PER_SECOND.roms
      return Math.min(PER_SECOND[kind], Math.max(all / 2, all - others))
    },
    reserve,
    countUrgent,
    close () {
      clearInterval(timer)
      closed.abort()
    }
  }
}
