import type { ProviderDefinition } from '@svc/plugin-sdk'
import { createMask } from '../http/mask.ts'
import type { CallScope } from './call-scope.ts'
import { limitTime } from './limit-time.ts'
import type { Loaded } from './registry.ts'
import { providerCalls } from './traces.ts'

const DEFAULT_TIMEOUT_MS = 60_000

/** What a plugin throws is shown to people, and it may quote what it was configured with. */
function hideSecrets (err: unknown, secrets: readonly string[]): void {
  if (!(err instanceof Error)) return
  const { text } = createMask(secrets)
  err.message = text(err.message)
  if (err.stack !== undefined) err.stack = text(err.stack)
}

/**
 * Has a provider do something, for at most its time limit and not beyond the end of the scope.
 *
 * @param work what is called; its context fits every definition
 * @param limitMs the limit, where it is not the provider's own
 * @throws what the work throws, without the provider's secrets · the reason of the scope's signal
 */
export async function callProvider<Value> (
  { key, definition, limits, trust, context }: Loaded<ProviderDefinition>, scope: CallScope,
  work: (definition: ProviderDefinition, ctx: never) => Promise<Value>, limitMs = limits.timeoutMs ?? DEFAULT_TIMEOUT_MS
): Promise<Value> {
  const startedAt = performance.now()
  const tell = (failure: unknown) => {
    providerCalls.tell({ provider: key, ms: performance.now() - startedAt, failure })
  }
  try {
    const value = await limitTime(`Provider '${key}' did not answer within`, limitMs, scope.signal,
      (signal, hold) => work(definition, context({ ...scope, signal, hold }) as never))
    tell(null)
    return value
  } catch (err) {
    // A caller that gave up says nothing about the provider.
    if (!scope.signal.aborted) tell(err)
    hideSecrets(err, trust.secrets)
    throw err
  }
}
