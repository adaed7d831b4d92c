import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { asRequest } from '../../core/request-id.ts'
import {
  type RunningDelivery, type Delivery, type DisabledChannel, type DeliveryResults, WAKE_EVENT, createDeliveries
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
const SERVER_FAILURE: Failure = {
  message: 'The server failed during the delivery; see its log', is_invalid: false, is_refused: false, retry_after_ms: 0
}
const CRASHED: Failure = { ...SERVER_FAILURE, message: 'The server crashed more than once during the delivery; see its log' }
/**
 * Spacing between retries after a crash. A delivery that crashes the server must not run together with the others
 * again.
 */
const SPACING_MS = 1_000

interface FinishedDelivery { delivery: Delivery, failure: Failure | null }

/** Converts finished deliveries to the results to store. */
function toResults (finished: readonly FinishedDelivery[]): DeliveryResults {
  const results: DeliveryResults = { delivered: [], retries: [], failed: [] }
  for (const { delivery: { id, attempts }, failure } of finished) {
    const delay = RETRY_DELAYS_MS[attempts]
    if (failure === null) results.delivered.push(id)
    else if (failure.is_invalid || delay === undefined) results.failed.push({ id, error: failure.message })
    else {
      const requestedMs = Math.min(failure.retry_after_ms, RETRY_DELAY_MAX_MS)
      const spacingMs = failure === CRASHED ? results.retries.length * SPACING_MS : 0
      results.retries.push(
        { id, attempts: attempts + 1, delay_ms: Math.round(Math.max(delay, requestedMs)) + spacingMs }
      )
    }
  }
  return results
}

/** Maps the id of each delivery to its outcome, for metrics. */
const toOutcomes = ({ delivered: arrived, retries, failed }: DeliveryResults) => new Map([
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
  const running = new Map<number, RunningDelivery & { ended: Promise<void> }>()
  const finished: FinishedDelivery[] = []
  let runPromise: Promise<void> | null = null
  let isWakeRequested = false
  let isClosing = false
  let timer: NodeJS.Timeout | undefined

  async function deliver (delivery: Delivery): Promise<CallResult<void>> {
    const { type, sealed, is_admin: isAdmin, notification, has_died: hasDied, deaths } = delivery
    // The first crash may have had another cause.
    if (hasDied && deaths > 1) return { ok: false, failure: CRASHED }
    const stored = openSettings(app.secrets, sealed)
    if (stored === null) return { ok: false, failure: UNREADABLE }
    const { settings, view: { stored_secrets: keys } } = stored
    const subject = { type, settings, secret_keys: keys ?? [], is_admin: isTrusted(stored, isAdmin) }
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
      return SERVER_FAILURE
    }
  }

  function start (delivery: Delivery): void {
    const { channel_id: channel, user_id: user, request_id: request } = delivery
    const ended = asRequest(request ?? undefined, () => attempt(delivery)).then((failure) => {
      if (failure !== 'cut off') finished.push({ delivery, failure })
      wake()
    })
    running.set(channel, { channel_id: channel, user_id: user, ended })
  }

  async function notifyListeners (channel: DisabledChannel): Promise<void> {
    for (const listener of listeners) {
      await listener(channel).catch((err: unknown) => {
        app.log.error({ err, channel: channel.id }, 'a listener for disabled channels failed')
      })
    }
  }

  async function write (ended: readonly FinishedDelivery[]): Promise<void> {
    const results = toResults(ended)
    const disabled = await deliveries.storeResults(ended.map(({ delivery }) => delivery.channel_id), results)
    const outcomes = toOutcomes(results)
    for (const finishedDelivery of ended) {
      finished.splice(finished.indexOf(finishedDelivery), 1)
      running.delete(finishedDelivery.delivery.channel_id)
      count({ type: finishedDelivery.delivery.type, outcome: outcomes.get(finishedDelivery.delivery.id) ?? '' })
    }
    for (const channel of disabled) await notifyListeners(channel)
  }

  /**
   * Stores all results since the last call in one transaction. If this fails, each result is stored alone: a faulty one
   * only blocks its own channel and is retried.
   */
  async function storeResults (): Promise<void> {
    const ended = [...finished]
    if (ended.length === 0) return
    try {
      await write(ended)
    } catch (err) {
      app.log.error({ err }, 'the outcomes of deliveries could not be stored together; each is stored separately')
      for (const finishedDelivery of ended) {
        await write([finishedDelivery]).catch((reason: unknown) => {
          app.log.error({ err: reason, channel: finishedDelivery.delivery.channel_id }, 'the outcome of a delivery could not be stored')
        })
      }
    }
  }

  /** @returns true if any delivery was taken */
  async function startDelivery (): Promise<boolean> {
    const free = CONCURRENCY - running.size
    if (isClosing || free === 0) return false
    const claimed = await deliveries.claimDue([...running.values()], free)
    claimed.forEach(start)
    return claimed.length > 0
  }

  /** @returns the number of milliseconds until the next turn */
  async function runOnce (): Promise<number> {
    clearTimeout(timer)
    isWakeRequested = false
    if (!await app.workers.claim(DUTY)) return CLAIM_MS
    do {
      isWakeRequested = false
      await storeResults()
    } while (await startDelivery() || isWakeRequested)
    const due = running.size < CONCURRENCY ? await deliveries.findNextDue([...running.values()]) : null
    return Math.min(POLL_MS, Math.max(WAIT_MIN_MS, due ?? POLL_MS))
  }

  /** Starts a turn, and another one after it if a poke arrives meanwhile. */
  function wake (): void {
    isWakeRequested = true
    if (runPromise !== null || isClosing) return
    runPromise = runOnce().catch((err: unknown) => {
      app.log.error({ err }, 'deliveries could not be loaded; the next attempt is in a few seconds')
      isWakeRequested = false
      return POLL_MS
    }).then((ms) => {
      runPromise = null
      if (isWakeRequested) wake()
      else if (!isClosing) timer = setTimeout(wake, ms)
    })
  }

  return {
    async open (): Promise<void> {
      await app.workers.listen(WAKE_EVENT, wake)
      wake()
    },

    /** Starts nothing more, and waits a limited time for running deliveries. */
    async close (): Promise<void> {
      isClosing = true
      clearTimeout(timer)
      await runPromise
      const all = Promise.all([...running.values()].map(({ ended }) => ended))
      await Promise.race([all, sleep(CLOSE_MS, undefined, { ref: false })])
      closing.abort(new Error('The server stops'))
      await all
      await storeResults()
    }
  }
}
