import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { asRequest } from '../../../core/log/request-id.ts'
import { attemptDelivery } from './attempt-delivery.ts'
import type { Host } from '../host/channel-host.ts'
import { type FinishedDelivery, toOutcomes, toResults } from './delivery-results.ts'
import { type Delivery, type DisabledChannel, type RunningDelivery, WAKE_EVENT, createDeliveries } from './delivery-rows.ts'

export type DisabledListener = (channel: DisabledChannel) => Promise<void>

const DUTY = 'deliveries'
/** Number of channels with concurrent deliveries; each channel has at most one. */
const CONCURRENCY = 32
const DEFAULT_PER_MINUTE = 60
/** Poll interval, in case a wake event is lost. */
const POLL_MS = 5_000
/** Minimum delay between two polls, whatever due times the rows have. */
const WAIT_MIN_MS = 50
/** Interval at which a waiting process tries to take over after the end of the delivering one. */
const CLAIM_MS = 2_000
/** Time that running deliveries get when the server stops. */
const CLOSE_MS = 5_000

/** Returns the most deliveries per minute of each channel type that has a limit. */
const limitsOf = ({ registry }: FastifyInstance) => new Map([...registry.channels].map(([type, { definition }]) =>
  [type, definition.limits?.perMinute ?? DEFAULT_PER_MINUTE] as const).filter(([, limit]) => Number.isFinite(limit)))

const createCounter = ({ metrics }: FastifyInstance) => metrics.counter({
  name: 'svc_deliveries_total',
  help: 'Deliveries to channels by outcome: arrived, retried, or failed permanently',
  labelNames: ['type', 'outcome']
})

/** Delivers queued notifications, in the one process that holds the duty. */
export class DeliveryEngine {
  readonly #app: FastifyInstance
  readonly #host: Host
  readonly #listeners: readonly DisabledListener[]
  readonly #deliveries: ReturnType<typeof createDeliveries>
  readonly #count: ReturnType<typeof createCounter>
  readonly #closing = new AbortController()
  /**
   * Running deliveries by channel, until their results are stored: a row that still looks due must not be taken twice.
   */
  readonly #running = new Map<number, RunningDelivery & { ended: Promise<void> }>()
  readonly #finished: FinishedDelivery[] = []
  #runPromise: Promise<void> | null = null
  #isWakeRequested = false
  #isClosing = false
  #timer: NodeJS.Timeout | undefined

  constructor (app: FastifyInstance, host: Host, listeners: readonly DisabledListener[]) {
    this.#app = app
    this.#host = host
    this.#listeners = listeners
    this.#deliveries = createDeliveries(app.db, app.workers.id, () => limitsOf(app))
    this.#count = createCounter(app)
  }

  async open (): Promise<void> {
    await this.#app.workers.listen(WAKE_EVENT, () => { this.#wake() })
    this.#wake()
  }

  /** Starts nothing more, and waits a limited time for running deliveries. */
  async close (): Promise<void> {
    this.#isClosing = true
    clearTimeout(this.#timer)
    await this.#runPromise
    const all = Promise.all([...this.#running.values()].map(({ ended }) => ended))
    await Promise.race([all, sleep(CLOSE_MS, undefined, { ref: false })])
    this.#closing.abort(new Error('The server stops'))
    await all
    await this.#storeResults()
  }

  #start (delivery: Delivery): void {
    const { channel_id: channel, user_id: user, request_id: request } = delivery
    const attempt = () => attemptDelivery(this.#app, this.#host, delivery, this.#closing.signal)
    const ended = asRequest(request ?? undefined, attempt).then((failure) => {
      if (failure !== 'cut off') this.#finished.push({ delivery, failure })
      this.#wake()
    })
    this.#running.set(channel, { channel_id: channel, user_id: user, ended })
  }

  async #notifyListeners (channel: DisabledChannel): Promise<void> {
    for (const listener of this.#listeners) {
      await listener(channel).catch((err: unknown) => {
        this.#app.log.error({ err, channel: channel.id }, 'a listener for disabled channels failed')
      })
    }
  }

  async #write (ended: readonly FinishedDelivery[]): Promise<void> {
    const results = toResults(ended)
    const disabled = await this.#deliveries.storeResults(ended.map(({ delivery }) => delivery.channel_id), results)
    const outcomes = toOutcomes(results)
    for (const finishedDelivery of ended) {
      this.#finished.splice(this.#finished.indexOf(finishedDelivery), 1)
      this.#running.delete(finishedDelivery.delivery.channel_id)
      this.#count({ type: finishedDelivery.delivery.type, outcome: outcomes.get(finishedDelivery.delivery.id) ?? '' })
    }
    for (const channel of disabled) await this.#notifyListeners(channel)
  }

  /**
   * Stores all results since the last call in one transaction. If this fails, each result is stored alone: a faulty one
   * only blocks its own channel and is retried.
   */
  async #storeResults (): Promise<void> {
    const ended = [...this.#finished]
    if (ended.length === 0) return
    try {
      await this.#write(ended)
    } catch (err) {
      this.#app.log.error({ err }, 'the outcomes of deliveries could not be stored together; each is stored separately')
      for (const finishedDelivery of ended) {
        await this.#write([finishedDelivery]).catch((reason: unknown) => {
          this.#app.log.error({ err: reason, channel: finishedDelivery.delivery.channel_id }, 'the outcome of a delivery could not be stored')
        })
      }
    }
  }

  /** @returns true if any delivery was taken */
  async #startDelivery (): Promise<boolean> {
    const free = CONCURRENCY - this.#running.size
    if (this.#isClosing || free === 0) return false
    const claimed = await this.#deliveries.claimDue([...this.#running.values()], free)
    for (const delivery of claimed) this.#start(delivery)
    return claimed.length > 0
  }

  /** @returns the number of milliseconds until the next turn */
  async #runOnce (): Promise<number> {
    clearTimeout(this.#timer)
    this.#isWakeRequested = false
    if (!await this.#app.workers.claim(DUTY)) return CLAIM_MS
    do {
      this.#isWakeRequested = false
      await this.#storeResults()
    } while (await this.#startDelivery() || this.#isWakeRequested)
    const isFree = this.#running.size < CONCURRENCY
    const due = isFree ? await this.#deliveries.findNextDue([...this.#running.values()]) : null
    return Math.min(POLL_MS, Math.max(WAIT_MIN_MS, due ?? POLL_MS))
  }

  /** Starts a turn, and another one after it if another wake event arrives meanwhile. */
  #wake (): void {
    this.#isWakeRequested = true
    if (this.#runPromise !== null || this.#isClosing) return
    this.#runPromise = this.#runOnce().catch((err: unknown) => {
      this.#app.log.error({ err }, 'deliveries could not be loaded; the next attempt is in a few seconds')
      this.#isWakeRequested = false
      return POLL_MS
    }).then((ms) => {
      this.#runPromise = null
      if (this.#isWakeRequested) this.#wake()
      else if (!this.#isClosing) this.#timer = setTimeout(() => { this.#wake() }, ms)
    })
  }
}
