import { ProviderSkippedError } from '../circuits/check-circuit.ts'

interface Failures {
  /** Number of failed calls, and the error of the first one. */
  failed: number
  first: string
  /** Number of skipped calls, and the reason of the last one. */
  leftOut: number
  last: ProviderSkippedError | null
}

function describe (key: string, { failed, first, leftOut, last }: Failures): string[] {
  const sentences: string[] = []
  if (failed > 0) sentences.push(`provider ${key} failed ${failed} times, the first time with: ${first}`)
  if (last !== null) sentences.push(`provider ${key} was skipped ${leftOut} times: ${last.describe()}`)
  return sentences
}

/** Counts the failures of each provider during a scan. */
export function createFailures () {
  const byProvider = new Map<string, Failures>()

  return {
    add (key: string, err: unknown): void {
      const known = byProvider.get(key) ?? { failed: 0, first: '', leftOut: 0, last: null }
      byProvider.set(key, known)
      if (err instanceof ProviderSkippedError) {
        known.leftOut++
        known.last = err
      } else {
        if (known.failed === 0) known.first = err instanceof Error ? err.message : String(err)
        known.failed++
      }
    },

    /** Returns one message per provider and kind of failure. */
    describe: () => [...byProvider].flatMap(([key, failures]) => describe(key, failures))
  }
}
