import type { ProviderDefinition } from '@svc/plugin-sdk'
import { createMask } from '../../http/mask.ts'
import type { CallScope } from './call-scope.ts'
import { limitTime } from '../../concurrency/limit-time.ts'
import type { Loaded } from '../registry.ts'
import { providerCalls } from './traces.ts'

const DEFAULT_TIMEOUT_MS = 60_000

/** Masks secrets in an error of a plugin, because users see the error and it may quote the plugin's settings. */
function hideSecrets (err: unknown, secrets: readonly string[]): void {
  if (!(err instanceof Error)) return
  const { text } = createMask(secrets)
  err.message = text(err.message)
  if (err.stack !== undefined) err.stack = text(err.stack)
}

/**
 * Calls a provider, within its time limit and the lifetime of the scope.
 *
 * @param work the call; its context fits every definition
 * @param limitMs replaces the provider's own limit
 * @throws the errors of the work, without the provider's secrets · the reason of the scope's signal
 */
export async function callProvider<Value> (
  { key, definition, limits, trust, context }: Loaded<ProviderDefinition>, scope: CallScope,
  work: (definition: ProviderDefinition, ctx: never) => Promise<Value>, limitMs = limits.timeoutMs ?? DEFAULT_TIMEOUT_MS
): Promise<Value> {
  const startedAt = performance.now()
  const trace = (failure: unknown) => {
    providerCalls.publish({ provider: key, ms: performance.now() - startedAt, failure })
  }
  try {
    const value = await limitTime(`Provider '${key}' did not answer within`, limitMs, scope.signal,
      (signal, pauseClock) => work(definition, context({ ...scope, signal, pauseClock }) as never))
    trace(null)
    return value
  } catch (err) {
    // A call that its caller aborted says nothing about the provider.
    if (!scope.signal.aborted) trace(err)
    hideSecrets(err, trust.secrets)
    throw err
  }
}
