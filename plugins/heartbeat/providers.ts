import type { FastifyInstance } from 'fastify'
import type { Config } from '../../core/config/config.ts'
import { badRequest } from '../../core/errors.ts'
import { callProvider } from '../../core/loader/calls/call-provider.ts'
import { readPreferences } from '../../core/loader/context.ts'
import { createMemo } from '../../core/loader/calls/memo.ts'
import { isKnownProvider } from './flags.ts'
import { createTimedMemo } from './timed-memo.ts'

const QUEUE = 'provider-heartbeats'
const CONCURRENCY = 4
/** A provider that takes longer counts as not answering. */
const PROVIDER_TIMEOUT_MS = 10_000
const WORKER_TIMEOUT_MS = PROVIDER_TIMEOUT_MS + 2_000
/** Anyone may call this, so one answer of a provider is cached for this time. */
const CACHE_MS = 30_000

export function createProviderChecks (app: FastifyInstance, config: Config) {
  const cachedChecks = createTimedMemo<boolean>(CACHE_MS)
  const answered = createTimedMemo<boolean>(CACHE_MS)

  /**
   * Checks in the worker if the provider answers. A provider without a heartbeat answers unless its circuit is open.
   */
  async function checkProvider (key: string, until: AbortSignal): Promise<boolean> {
    const provider = app.registry.providers.get(key)
    if (provider === undefined || app.circuits.of(key).refusal() !== null) return false
    const scope = { signal: until, memo: createMemo(), preferences: readPreferences(config) }
    try {
      return await callProvider(provider, scope, async (definition, ctx) =>
        definition.heartbeat === undefined || await definition.heartbeat(ctx), PROVIDER_TIMEOUT_MS)
    } catch (err) {
      app.log.warn({ err, plugin: `provider/${key}` }, 'provider does not answer')
      return false
    }
  }

  async function checkInWorker (key: string): Promise<boolean> {
    if (!await app.workers.isAlive('worker')) return false
    try {
      const output = await app.jobs.request(QUEUE, { key }, WORKER_TIMEOUT_MS)
      return typeof output === 'object' && output !== null && 'answers' in output && output.answers === true
    } catch (err) {
      app.log.warn({ err, plugin: `provider/${key}` }, 'the health check of a provider failed')
      return false
    }
  }

  app.jobs.define<{ key: string }>(QUEUE, {
    concurrency: CONCURRENCY,
    timeoutSeconds: WORKER_TIMEOUT_MS / 1_000,
    run: async ({ key }, signal) => ({ answers: await answered(key, () => checkProvider(key, signal)) })
  })

  return {
    /**
     * True if a metadata provider answers; false for an inactive provider, and on any failure.
     *
     * @throws ApiError BAD_REQUEST for a name of no provider.
     */
    async isAnswering (key: string): Promise<boolean> {
      if (!isKnownProvider(app.registry, key)) throw badRequest('Invalid metadata source')
      if (!app.registry.providers.has(key)) return false
      return await cachedChecks(key, () => checkInWorker(key))
    }
  }
}
