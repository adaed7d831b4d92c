import type { FastifyInstance } from 'fastify'
import type { Config } from '../../core/config/config.ts'
import { callProvider } from '../../core/loader/calls/call-provider.ts'
import { createMemo } from '../../core/loader/calls/memo.ts'
import { readPreferences } from '../../core/loader/context.ts'
import type { ProviderTest } from './schemas.ts'

/** A provider that takes longer counts as not answering. */
export const PROVIDER_TIMEOUT_MS = 10_000
/** The longest text about a failed test. */
const PROBLEM_MAX = 500

/** Creates the calls of the heartbeats of providers in the scan worker. */
export function createProviderTests (app: FastifyInstance, config: Config) {
  const findReason = (key: string): string | null =>
    app.registry.records.find((record) => record.kind === 'provider' && record.key === key)?.reason ?? null

  async function callHeartbeat (key: string, until: AbortSignal): Promise<ProviderTest> {
    const provider = app.registry.providers.get(key)
    if (provider === undefined) return { answers: false, problem: findReason(key) }
    const scope = { signal: until, memo: createMemo(), preferences: readPreferences(config) }
    try {
      const answers = await callProvider(provider, scope, async (definition, ctx) =>
        definition.heartbeat === undefined || await definition.heartbeat(ctx), PROVIDER_TIMEOUT_MS)
      return { answers, problem: answers ? null : 'The service does not answer as expected. Check the network of the server and the settings.' }
    } catch (err) {
      app.log.warn({ err, plugin: `provider/${key}` }, 'provider does not answer')
      return { answers: false, problem: err instanceof Error ? err.message.slice(0, PROBLEM_MAX) : null }
    }
  }

  return {
    callHeartbeat,

    /** Calls the provider whatever it did before. A success closes its circuit. */
    async test (key: string, until: AbortSignal): Promise<ProviderTest> {
      const result = await callHeartbeat(key, until)
      if (result.answers) app.circuits.reset(key)
      return result
    }
  }
}
