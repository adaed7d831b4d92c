import type { FastifyInstance } from 'fastify'
import { databaseNow } from '../database/clock.ts'
import { RESTING } from '../jobs/rest.ts'
import type { ProcessMessage } from './messages.ts'

/** The interval at which the clock is compared with the next schedule, also after the machine slept. */
const CLOCK_MS = 5_000
/**
 * Notifications announce most work. Deliveries that become due need a look at the database. More looks would keep its
 * connection open, which takes 10 MB.
 */
const LOOK_MS = 60_000
/** The worker starts this long before a scheduled job is due. The scheduler forgets one that was due a minute ago. */
const LEAD_MS = 10_000
const FAILED = 'a failed look for work'

interface GuardOptions {
  app: Pick<FastifyInstance, 'log' | 'rest' | 'workers'>
  report (message: ProcessMessage): Promise<void>
}

/**
 * Looks for work in place of a resting scan worker. It holds a lock, by which all processes know that the worker only
 * rests. Every doubt wakes the worker.
 */
export class Guard {
  readonly #options: GuardOptions
  #wakeAt: number | null = null
  /** The lock, once asked for; null without one. */
  #lock: { taken: Promise<void>, release: () => void } | null = null
  #timer: NodeJS.Timeout | undefined
  #lookedAt = 0
  #isListening = false
  #isLooking = false
  #isLookRequested = false

  constructor (options: GuardOptions) {
    this.#options = options
  }

  /** Starts the search, and reports whether there was work. @param at the time of the next scheduled job */
  start (at: number | null): void {
    this.#wakeAt = at
    this.#open().catch(async (err: unknown) => {
      this.#options.app.log.warn({ err }, 'the scan worker cannot rest')
      await this.#wake(FAILED)
    })
  }

  /** Ends the search: the worker is there again. */
  stop (): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#lock?.release()
    this.#lock = null
  }

  async #open (): Promise<void> {
    const { app, report } = this.#options
    const lock = this.#lock ??= this.#takeLock()
    await lock.taken
    if (!this.#isListening) {
      for (const channel of app.rest.listChannels()) await app.workers.listen(channel, this.#lookSoon)
      this.#isListening = true
    }
    const reason = await this.#findReason()
    if (this.#lock !== lock) return
    if (reason !== null) {
      await this.#wake(reason)
      return
    }
    this.#timer ??= setInterval(() => { this.#tick() }, CLOCK_MS)
    await report({ type: 'guarding' })
    // Work that came before the timer was set announced itself in vain.
    await this.#look()
  }

  #takeLock () {
    const released = Promise.withResolvers<void>()
    const taken = new Promise<void>((resolve, reject) => {
      this.#options.app.workers.runLocked(RESTING, () => {
        resolve()
        return released.promise
      }).catch(reject)
    })
    return { taken, release: released.resolve }
  }

  #isScheduleDue (): boolean {
    return this.#wakeAt !== null && databaseNow() >= this.#wakeAt - LEAD_MS
  }

  #tick (): void {
    if (this.#isScheduleDue() || performance.now() - this.#lookedAt >= LOOK_MS) this.#lookSoon()
  }

  async #findReason (): Promise<string | null> {
    if (this.#isScheduleDue()) return 'schedules'
    this.#lookedAt = performance.now()
    return await this.#options.app.rest.findWork()
  }

  async #wake (reason: string): Promise<void> {
    clearInterval(this.#timer)
    this.#timer = undefined
    await this.#options.report({ type: 'wake', reason })
  }

  readonly #lookSoon = () => { void this.#look() }

  async #look (): Promise<void> {
    if (this.#timer === undefined) return
    this.#isLookRequested = true
    if (this.#isLooking) return
    this.#isLooking = true
    try {
      while (this.#isLookRequested && this.#timer !== undefined) {
        this.#isLookRequested = false
        const reason = await this.#findReason()
        if (reason !== null) await this.#wake(reason)
      }
    } catch (err) {
      this.#options.app.log.debug({ err }, 'work for the resting scan worker could not be looked for')
      await this.#wake(FAILED)
    } finally {
      this.#isLooking = false
    }
  }
}
