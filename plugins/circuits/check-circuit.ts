import type { ReportedLimits } from '../../core/loader/plugin-limits.ts'
import { formatDate } from '../../core/typebox.ts'
import type { Breaker, Refusal } from './breaker.ts'

/** The provider was not called, because its circuit is open or one of its allowances is spent. */
export class ProviderSkippedError extends Error {
  override readonly name = 'ProviderSkippedError'
  /** The time when calls resume, in milliseconds since 1970; null if unknown. */
  readonly retryAt: number | null

  constructor ({ reason, retryAt }: Pick<Refusal, 'reason' | 'retryAt'>) {
    super(reason)
    this.retryAt = retryAt
  }

  /** Returns the reason, and the time when calls resume unless they already did. */
  describe (): string {
    return this.retryAt === null || this.retryAt <= Date.now()
      ? this.message
      : `${this.message}; calls resume at ${formatDate(this.retryAt)}`
  }
}

/** Checks the allowances of a provider. @throws ProviderSkippedError while an allowance is spent */
export function checkAllowances (reportedLimits: ReportedLimits): void {
  const spent = reportedLimits.findSpent()
  if (spent !== null) throw new ProviderSkippedError({ reason: `its allowance '${spent.name}' is used up`, retryAt: spent.resetsAt })
}

/**
 * Checks a provider before each call that does not wait for a turn of its circuit.
 *
 * @throws ProviderSkippedError at once while an allowance is spent or the circuit is open
 */
export function checkCircuit ({ reportedLimits }: { reportedLimits: ReportedLimits }, breaker: Breaker): void {
  checkAllowances(reportedLimits)
  const refusal = breaker.refusal()
  if (refusal !== null) throw new ProviderSkippedError(refusal)
}
