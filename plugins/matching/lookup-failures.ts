import { messageOf } from '../../core/loader/process/errors.ts'
import { ProviderSkippedError } from '../circuits/check-circuit.ts'

interface ProviderFailures {
  /** Number of failed calls, and the error of the first one. */
  failed: number
  first: string
  /** Number of skipped calls, and the reason of the last one. */
  skipped: number
  last: ProviderSkippedError | null
}

function describe (key: string, { failed, first, skipped, last }: ProviderFailures): string[] {
  const sentences: string[] = []
  if (failed > 0) sentences.push(`provider ${key} failed ${failed === 1 ? 'once' : `${failed} times, the first time`} with: ${first}`)
  if (last !== null) sentences.push(`provider ${key} was skipped ${skipped === 1 ? 'once' : `${skipped} times`}: ${last.describe()}`)
  return sentences
}

/** Counts the failures of each provider during a scan. */
export function createFailures () {
  const byProvider = new Map<string, ProviderFailures>()

  return {
    add (key: string, err: unknown): void {
      const failures = byProvider.get(key) ?? { failed: 0, first: '', skipped: 0, last: null }
      byProvider.set(key, failures)
      if (err instanceof ProviderSkippedError) {
        failures.skipped++
        failures.last = err
      } else {
        if (failures.failed === 0) failures.first = messageOf(err)
        failures.failed++
      }
    },

    /** Returns one message per provider and kind of failure. */
    describe: () => [...byProvider].flatMap(([provider, failures]) =>
      describe(provider, failures).map((reason) => ({ provider, reason })))
  }
}
export type LookupFailures = ReturnType<typeof createFailures>
