import { ProviderSkippedError } from '../circuits/check-circuit.ts'

interface Failures {
  /** Calls that failed, and what the first one threw. */
  failed: number
  first: string
  /** Calls that were not made, and why the last one was not. */
  leftOut: number
  last: ProviderSkippedError | null
}

function describe (key: string, { failed, first, leftOut, last }: Failures): string[] {
  const sentences: string[] = []
  if (failed > 0) sentences.push(`provider ${key} failed ${failed} times, at first with: ${first}`)
  if (last !== null) sentences.push(`provider ${key} was left out ${leftOut} times: ${last.describe()}`)
  return sentences
}

/** Counts what went wrong with each provider during a scan. */
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

    /** What a person is told, provider by provider. */
    describe: () => [...byProvider].flatMap(([key, failures]) => describe(key, failures))
  }
}
