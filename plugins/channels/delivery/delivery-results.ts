import type { Failure } from '../host/channel-failures.ts'
import { CRASHED } from './attempt-delivery.ts'
import type { Delivery, DeliveryResults } from './delivery-rows.ts'

const RETRY_DELAYS_MS = [30_000, 120_000, 600_000]
/** Upper bound for the delay that a destination asks for. */
const RETRY_DELAY_MAX_MS = 3_600_000
/**
 * Spacing between retries after a crash. A delivery that crashes the server must not run together with the others
 * again.
 */
const SPACING_MS = 1_000

export interface FinishedDelivery { delivery: Delivery, failure: Failure | null }

/** Converts finished deliveries to the results to store. */
export function toResults (
  finished: readonly { delivery: Pick<Delivery, 'id' | 'attempts'>, failure: Failure | null }[]
): DeliveryResults {
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
export const toOutcomes = ({ delivered: arrived, retries, failed }: DeliveryResults) => new Map([
  ...arrived.map((id) => [id, 'arrived'] as const),
  ...retries.map(({ id }) => [id, 'retried'] as const),
  ...failed.map(({ id }) => [id, 'failed'] as const)
])
