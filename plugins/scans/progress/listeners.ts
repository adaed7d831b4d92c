import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'

/** Events a second at most; more seldom where many listen. */
export const PER_SECOND = { roms: 40, stats: 4 }
type Kind = keyof typeof PER_SECOND

/**
 * Of all events, over all who listen. Each delivery costs a web worker some 20 µs and its client more, which may run
 * beside it: what they need is missing to the scan and to requests.
 */
const DELIVERIES_PER_SECOND = 1_000
/** Of events that come together: who is told last waits until all others had all of them. */
const DELIVERIES_AT_ONCE = 1_000
/** How fast they are sure to be written and read, beside a scan that takes all processors. */
const WRITTEN_PER_SECOND = 5_000
const COUNT_MS = 2_000
/** What the first events wait for the first count. */
const PATIENCE_MS = 500

/** How many hear of a scan, which decides how often they are told. */
export interface Listeners {
  /** Resolves when they were counted once, or soon. */
  counted: Promise<unknown>
  /** False while nobody is told: what only events are made of need not be read then. */
  areThere (): boolean
  /** Events of a kind a second: half of what all who listen may be told, and what the other kind leaves. */
  perSecond (kind: Kind): number
  /** Of so many events those that may go out now: where many listen, none before what was told last is written. */
  reserve (events: number): number
  /** Counts events that cannot wait: others do, until these are written. */
  tell (events: number): void
  close (): void
}

export function createListeners (app: FastifyInstance, log: Pick<Logger, 'warn'>): Listeners {
  // Until it is known, somebody may hear.
  let count = 1
  /** Deliveries that may come on top of those under way; less than none where some could not wait. */
  let room = DELIVERIES_AT_ONCE
  let toldAt = performance.now()
  const closed = new AbortController()

  async function ask (): Promise<void> {
    try {
      count = await app.sockets.countConnections()
    } catch (err) {
      // A web worker that ended does not answer.
      if (!closed.signal.aborted) log.warn({ err }, 'those who listen could not be counted; the last count holds')
    }
  }

  const each = () => Math.max(1, count)

  function tell (events: number): void {
    const now = performance.now()
    const written = (now - toldAt) / 1_000 * WRITTEN_PER_SECOND
    room = Math.min(Math.max(DELIVERIES_AT_ONCE, each()), room + written) - events * each()
    toldAt = now
  }

  function reserve (events: number): number {
    tell(0)
    const taken = Math.min(events, Math.max(0, Math.floor(room / each())))
    tell(taken)
    return taken
  }

  const timer = setInterval(() => { void ask() }, COUNT_MS).unref()
  return {
    counted: Promise.race([ask(), pause(PATIENCE_MS, undefined, { signal: closed.signal }).catch(() => {})]),
    areThere: () => count > 0,
    perSecond (kind) {
      const all = DELIVERIES_PER_SECOND / each()
      const others = kind === 'roms' ? PER_SECOND.stats : PER_SECOND.roms
      return Math.min(PER_SECOND[kind], Math.max(all / 2, all - others))
    },
    reserve,
    tell,
    close () {
      clearInterval(timer)
      closed.abort()
    }
  }
}
