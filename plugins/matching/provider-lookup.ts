import { setTimeout as sleep } from 'node:timers/promises'
import { CredentialsRefusedError, type ProviderDefinition, RateLimitedError } from '@svc/plugin-sdk'
import { nameCredentials } from '../../core/loader/settings/plugin-config.ts'
import type { Loaded } from '../../core/loader/registry.ts'
import { createSemaphore } from '../../core/concurrency/semaphore.ts'
import { messageOf } from '../../core/loader/process/errors.ts'
import type { Breaker, CallOutcome, CallPermit } from '../circuits/breaker.ts'
import { ProviderSkippedError, checkAllowances, checkCircuit } from '../circuits/check-circuit.ts'
import type { ProviderMatch } from './matches.ts'

const DEFAULT_CONCURRENCY = 4
const DEFAULT_PAUSE_MS = 5_000
/**
 * Maximum number of retries of one lookup after pauses, because a provider that pauses forever must not block the scan.
 */
const PAUSES_MAX = 20

type Provider = Loaded<ProviderDefinition>

/** The queue of calls to one provider, for all ROMs. */
export interface ProviderQueue {
  provider: Provider
  /**
   * Calls the provider when a slot is free, and again after each pause that the provider requests.
   *
   * @throws ProviderSkippedError at once while the circuit is open or an allowance is spent · the error of the call ·
   * the signal's reason
   */
  run (call: () => Promise<ProviderMatch | null>): Promise<ProviderMatch | null>
}

/** Classifies an error of a call for the circuit of its provider. */
function classifyError (err: unknown, { key, definition }: Provider): CallOutcome {
  const message = messageOf(err)
  if (err instanceof RateLimitedError) return { kind: 'paused', message, ms: err.retryAfterMs ?? DEFAULT_PAUSE_MS }
  if (!(err instanceof CredentialsRefusedError)) return { kind: 'failed', message }
  // Stored settings apply at once; variables and `config.yml` are read when the server starts.
  const names = nameCredentials('provider', key, definition.config).join(' and ') || 'them'
  const remedy = `correct ${names} in the settings of the plugin, or in those of the server and restart the server`
  return { kind: 'refused', message: `its credentials were refused: ${message}; ${remedy}` }
}

export function createProviderQueue (provider: Provider, breaker: Breaker, signal: AbortSignal): ProviderQueue {
  const { limits, reportedLimits } = provider
  const readConcurrency = () => reportedLimits.rateLimit()?.concurrency ?? limits.concurrency ?? DEFAULT_CONCURRENCY
  const slots = createSemaphore(readConcurrency())

  /** @throws ProviderSkippedError */
  async function waitForPermit (): Promise<Extract<CallPermit, { kind: 'call' }>> {
    for (;;) {
      checkAllowances(reportedLimits)
      const permit = breaker.requestCall()
      if (permit.kind === 'call') return permit
      if (permit.kind === 'refusal') throw new ProviderSkippedError(permit)
      const wait = sleep(permit.ms, undefined, { signal, ref: false })
      await (permit.probeEnd === null ? wait : Promise.race([wait, permit.probeEnd]))
    }
  }

  /** Keeps its slot while the provider is paused, so all other calls to this provider pause too. */
  async function callWithRetries (call: () => Promise<ProviderMatch | null>): Promise<ProviderMatch | null> {
    for (let pauses = 0; ; pauses++) {
      signal.throwIfAborted()
      const permit = await waitForPermit()
      try {
        const match = await call()
        permit.end({ kind: 'answered' })
        return match
      } catch (err) {
        permit.end(signal.aborted ? { kind: 'cancelled' } : classifyError(err, provider))
        if (signal.aborted || !(err instanceof RateLimitedError) || pauses >= PAUSES_MAX) throw err
      }
    }
  }

  return {
    provider,
    async run (call) {
      checkCircuit(provider, breaker)
      slots.setLimit(readConcurrency())
      return await slots.run(() => callWithRetries(call))
    }
  }
}
