import type { FastifyInstance } from 'fastify'
import { Value } from '@sinclair/typebox/value'
import type { Config } from '../../core/config/config.ts'
import { badRequest, notFound } from '../../core/errors.ts'
import { PROVIDER_TIMEOUT_MS, createProviderTests } from './provider-tests.ts'
import { isInstalled, isKnownProvider } from './flags.ts'
import { type ProviderTest, ProviderTestSchema } from './schemas.ts'
import { createTimedMemo } from './timed-memo.ts'

const QUEUE = 'provider-heartbeats'
const CONCURRENCY = 4
const WORKER_TIMEOUT_MS = PROVIDER_TIMEOUT_MS + 2_000
/** Anyone may call this, so one answer of a provider is cached for this time. */
const CACHE_MS = 30_000

export function createProviderChecks (app: FastifyInstance, config: Config) {
  const { callHeartbeat, test } = createProviderTests(app, config)
  const cachedChecks = createTimedMemo<boolean>(CACHE_MS)
  const answered = createTimedMemo<boolean>(CACHE_MS)

  /**
   * Checks in the worker if the provider answers. A provider without a heartbeat answers unless its circuit is open.
   */
  async function checkProvider (key: string, until: AbortSignal): Promise<boolean> {
    return app.circuits.of(key).refusal() === null && (await callHeartbeat(key, until)).answers
  }

  async function checkInWorker (key: string): Promise<boolean> {
    if (!await app.workers.isAlive('worker')) return false
    try {
      const output = await app.jobs.request(QUEUE, { key }, WORKER_TIMEOUT_MS)
      return Value.Check(ProviderTestSchema, output) && output.answers
    } catch (err) {
      app.log.warn({ err, plugin: `provider/${key}` }, 'the health check of a provider failed')
      return false
    }
  }

  app.jobs.define<{ key: string, isTest?: boolean }>(QUEUE, {
    concurrency: CONCURRENCY,
    timeoutSeconds: WORKER_TIMEOUT_MS / 1_000,
    run: async ({ key, isTest }, signal) => isTest === true
      ? await test(key, signal)
      : { answers: await answered(key, () => checkProvider(key, signal)), problem: null }
  })

  return {
    /**
     * Calls the heartbeat of a provider now.
     *
     * @throws ApiError NOT_FOUND if no such provider is installed · UNAVAILABLE without a scan worker
     */
    async test (key: string): Promise<ProviderTest> {
      if (!isInstalled(app.registry, key)) throw notFound(`There is no provider '${key}'; GET /api/plugins lists all`)
      await app.workers.requireScanWorker()
      return Value.Parse(ProviderTestSchema, await app.jobs.request(QUEUE, { key, isTest: true }, WORKER_TIMEOUT_MS))
    },

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
