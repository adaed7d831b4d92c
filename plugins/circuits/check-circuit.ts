import type { LearntLimits } from '../../core/loader/plugin-limits.ts'
import { formatDate } from '../../core/typebox.ts'
import type { Breaker, Refusal } from './breaker.ts'

/** The provider was not called, since its circuit is open or an allowance of it is spent. */
export class ProviderSkippedError extends Error {
  override readonly name = 'LeftOutError'
  /** Milliseconds since 1970. */
  readonly retryAt: number | null

  constructor ({ reason, retryAt }: Pick<Refusal, 'reason' | 'retryAt'>) {
    super(reason)
    this.retryAt = retryAt
  }

  /** Why, and from when on it is asked again. */
  describe (): string {
    return this.retryAt === null ? this.message : `${this.message}; it is asked again from ${formatDate(this.retryAt)} on`
  }
}

/** @throws LeftOutError while an allowance is spent */
export function checkAllowances (learnt: LearntLimits): void {
  const spent = learnt.spent()
  if (spent !== null) throw new ProviderSkippedError({ reason: `its allowance '${spent.name}' is spent`, retryAt: spent.resetsAt })
}

/**
 * Asked before each call of a provider that does not wait for a turn of its circuit.
 *
 * @throws LeftOutError at once while an allowance is spent or the circuit is open
 */
export function checkCircuit ({ learnt }: { learnt: LearntLimits }, breaker: Breaker): void {
  checkAllowances(learnt)
  const refusal = breaker.refusal()
  if (refusal !== null) throw new ProviderSkippedError(refusal)
}
