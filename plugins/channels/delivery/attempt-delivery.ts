import type { FastifyInstance } from 'fastify'
import type { CallResult, Failure } from '../host/channel-failures.ts'
import type { Host } from '../host/channel-host.ts'
import type { Delivery } from './delivery-rows.ts'
import { toSubject } from '../host/http.ts'
import { UNREADABLE_ERROR, openSettings } from '../sealed-settings.ts'

const UNREADABLE: Failure = { message: UNREADABLE_ERROR, is_invalid: true, is_refused: true, retry_after_ms: 0 }
const SERVER_FAILURE: Failure = {
  message: 'The server failed during the delivery; see its log', is_invalid: false, is_refused: false, retry_after_ms: 0
}
export const CRASHED: Failure = { ...SERVER_FAILURE, message: 'The server crashed more than once during the delivery; see its log' }

async function deliver (
  { secrets }: FastifyInstance, host: Host, delivery: Delivery, signal: AbortSignal
): Promise<CallResult<void>> {
  const { type, sealed, is_admin: isAdmin, notification, has_died: hasDied, deaths } = delivery
  // The first crash may have had another cause.
  if (hasDied && deaths > 1) return { ok: false, failure: CRASHED }
  const stored = openSettings(secrets, sealed)
  if (stored === null) return { ok: false, failure: UNREADABLE }
  return await host.deliver(toSubject(type, stored, isAdmin), notification, signal)
}

/**
 * Tries to deliver a notification.
 *
 * @param signal aborts the try when the server stops
 * @returns the failure, or null
 */
export async function attemptDelivery (
  app: FastifyInstance, host: Host, delivery: Delivery, signal: AbortSignal
): Promise<Failure | 'cut off' | null> {
  const { channel_id: channel, type } = delivery
  try {
    const outcome = await deliver(app, host, delivery, signal)
    app.log.debug({ channel, type, ...(outcome.ok ? {} : { reason: outcome.failure.message }) },
      outcome.ok ? 'delivery arrived' : 'delivery failed')
    return outcome.ok ? null : outcome.failure
  } catch (err) {
    // An aborted delivery keeps its row, for the next process that holds the duty.
    if (signal.aborted) return 'cut off'
    app.log.error({ err, channel }, 'delivery failed because of an error of the server')
    return SERVER_FAILURE
  }
}
