import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { asRequest } from '../../core/request-id.ts'
import {
  type Busy, type Delivery, type DisabledChannel, type Results, WAKE_EVENT, createDeliveries
} from './delivery-rows.ts'
import type { Failure, Host, CallResult } from './channel-host.ts'
import { UNREADABLE_ERROR, isTrusted, openSettings } from './sealed-settings.ts'

export type DisabledListener = (channel: DisabledChannel) => Promise<void>

const DUTY = 'deliveries'
/** Number of channels with concurrent deliveries; each channel has at most one. */
const CONCURRENCY = 32
const RETRY_DELAYS_MS = [30_000, 120_000, 600_000]
/** Upper bound for the delay that a destination asks for. */
const RETRY_DELAY_MAX_MS = 3_600_000
const DEFAULT_PER_MINUTE = 60
/** Poll interval, in case a wake event is lost. */
const POLL_MS = 5_000
/** Minimum delay between two polls, whatever due times the rows have. */
const WAIT_MIN_MS = 50
/** Interval at which a waiting process tries to take over after the end of the delivering one. */
const CLAIM_MS = 2_000
/** Time that running deliveries get when the server stops. */
const CLOSE_MS = 5_000

const UNREADABLE: Failure = { message: UNREADABLE_ERROR, is_invalid: true, is_refused: true, retry_after_ms: 0 }
const BROKEN: Failure = {
  message: 'The server failed during the delivery; see its log', is_invalid: false, is_refused: false, retry_after_ms: 0
}
const DIED: Failure = { ...BROKEN, message: 'The server crashed more than once during the delivery; see its log' }
/**
 * Spacing between retries after a crash. A delivery that crashes the server must not run together with the others
 * again.
 */
const APART_MS = 1_000

interface Done { delivery: Delivery, failure: Failure | null }

/** Converts finished deliveries to the results to store. */
function toResults (done: readonly Done[]): Results {
  const results: Results = { arrived: [], retries: [], failed: [] }
  for (const { delivery: { id, attempts }, failure } of done) {
    const delay = RETRY_DELAYS_MS[attempts]
    if (failure === null) results.arrived.push(id)
    else if (failure.is_invalid || delay === undefined) results.failed.push({ id, error: failure.message })
    else {
      const asked = Math.min(failure.retry_after_ms, RETRY_DELAY_MAX_MS)
      const apart = failure === DIED ? results.retries.length * APART_MS : 0
      results.retries.push({ id, attempts: attempts + 1, delay_ms: Math.round(Math.max(delay, asked)) + apart })
    }
  }
  return results
}

/** Maps the id of each delivery to its outcome, for metrics. */
const toOutcomes = ({ arrived, retries, failed }: Results) => new Map([
  ...arrived.map((id) => [id, 'arrived'] as const),
  ...retries.map(({ id }) => [id, 'retried'] as const),
  ...failed.map(({ id }) => [id, 'failed'] as const)
])

/** Delivers queued notifications, in the one process that holds the duty. */
export function createEngine (app: FastifyInstance, host: Host, listeners: readonly DisabledListener[]) {
  const limits = new Map([...app.registry.channels].map(([type, { definition }]) =>
    [type, definition.limits?.perMinute ?? DEFAULT_PER_MINUTE] as const).filter(([, limit]) => Number.isFinite(limit)))
  const deliveries = createDeliveries(app.db, app.workers.id, limits)
  const count = app.metrics.counter({
    name: 'svc_deliveries_total',
    help: 'Deliveries to channels by outcome: arrived, retried, or failed permanently',
    labelNames: ['type', 'outcome']
  })
  const closing = new AbortController()
  /**
   * Running deliveries by channel, until their results are stored: a row that still looks due must not be taken twice.
   */
  const underWay = new Map<number, Busy & { ended: Promise<void> }>()
  const done: Done[] = []
  let turning: Promise<void> | null = null
  let isPoked = false
  let isClosing = false
  let timer: NodeJS.Timeout | undefined

  async function deliver (delivery: Delivery): Promise<CallResult<void>> {
    const { type, sealed, is_admin: isAdmin, notification, has_died: hasDied, deaths } = delivery
    // The first crash may have had another cause.
    if (hasDied && deaths > 1) return { ok: false, failure: DIED }
    const kept = openSettings(app.secrets, sealed)
    if (kept === null) return { ok: false, failure: UNREADABLE }
    const { settings, view: { stored_secrets: keys } } = kept
    const subject = { type, settings, secret_keys: keys ?? [], is_admin: isTrusted(kept, isAdmin) }
    return await host.deliver(subject, notification, closing.signal)
  }

  async function attempt (delivery: Delivery): Promise<Failure | 'cut off' | null> {
    const { channel_id: channel, type } = delivery
    try {
      const outcome = await deliver(delivery)
      app.log.debug({ channel, type, ...(outcome.ok ? {} : { reason: outcome.failure.message }) },
        outcome.ok ? 'delivery arrived' : 'delivery failed')
      return outcome.ok ? null : outcome.failure
    } catch (err) {
      // An aborted delivery keeps its row, for the next process that holds the duty.
      if (closing.signal.aborted) return 'cut off'
      app.log.error({ err, channel }, 'delivery failed because of an error of the server')
      return BROKEN
    }
  }

  function start (delivery: Delivery): void {
    const { channel_id: channel, user_id: user, request_id: request } = delivery
    const ended = asRequest(request ?? undefined, () => attempt(delivery)).then((failure) => {
      if (failure !== 'cut off') done.push({ delivery, failure })
      poke()
    })
    underWay.set(channel, { channel_id: channel, user_id: user, ended })
  }

  async function tell (channel: DisabledChannel): Promise<void> {
    for (const listener of listeners) {
      await listener(channel).catch((err: unknown) => {
        app.log.error({ err, channel: channel.id }, 'a listener for disabled channels failed')
      })
    }
  }

  async function write (ended: readonly Done[]): Promise<void> {
    const results = toResults(ended)
    const disabled = await deliveries.settle(ended.map(({ delivery }) => delivery.channel_id), results)
    const outcomes = toOutcomes(results)
    for (const one of ended) {
      done.splice(done.indexOf(one), 1)
      underWay.delete(one.delivery.channel_id)
      count({ type: one.delivery.type, outcome: outcomes.get(one.delivery.id) ?? '' })
    }
    for (const channel of disabled) await tell(channel)
  }

  /**
   * Stores all results since the last call in one transaction. If this fails, each result is stored alone: a faulty one
   * only blocks its own channel and is retried.
   */
  async function storeResults (): Promise<void> {
    const ended = [...done]
    if (ended.length === 0) return
    try {
      await write(ended)
    } catch (err) {
      app.log.error({ err }, 'the outcomes of deliveries could not be stored together; each is stored separately')
      for (const one of ended) {
        await write([one]).catch((reason: unknown) => {
          app.log.error({ err: reason, channel: one.delivery.channel_id }, 'the outcome of a delivery could not be stored')
        })
      }
    }
  }

  /** @returns true if any delivery was taken */
  async function startDelivery (): Promise<boolean> {
    const free = CONCURRENCY - underWay.size
    if (isClosing || free === 0) return false
    const taken = await deliveries.take([...underWay.values()], free)
    taken.forEach(start)
    return taken.length > 0
  }

  /** @returns the number of milliseconds until the next turn */
  async function turn (): Promise<number> {
    clearTimeout(timer)
    isPoked = false
    if (!await app.workers.claim(DUTY)) return CLAIM_MS
    do {
      isPoked = false
      await storeResults()
    } while (await startDelivery() || isPoked)
    const due = underWay.size < CONCURRENCY ? await deliveries.findNextDue([...underWay.values()]) : null
    return Math.min(POLL_MS, Math.max(WAIT_MIN_MS, due ?? POLL_MS))
  }

  /** Starts a turn, and another one after it if a poke arrives meanwhile. */
  function poke (): void {
    isPoked = true
    if (turning !== null || isClosing) return
    turning = turn().catch((err: unknown) => {
      app.log.error({ err }, 'deliveries could not be loaded; the next attempt is in a few seconds')
      isPoked = false
      return POLL_MS
    }).then((ms) => {
      turning = null
      if (isPoked) poke()
      else if (!isClosing) timer = setTimeout(poke, ms)
    })
  }

  return {
    async open (): Promise<void> {
      await app.workers.hear(WAKE_EVENT, poke)
      poke()
    },

    /** Starts nothing more, and waits a limited time for running deliveries. */
    async close (): Promise<void> {
      isClosing = true
      clearTimeout(timer)
      await turning
      const all = Promise.all([...underWay.values()].map(({ ended }) => ended))
      await Promise.race([all, sleep(CLOSE_MS, undefined, { ref: false })])
      closing.abort(new Error('The server stops'))
      await all
      await storeResults()
    }
  }
}
