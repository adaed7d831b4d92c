import type { FastifyInstance } from 'fastify'
import { Value } from '@sinclair/typebox/value'
import { Type } from '@sinclair/typebox'
import { PluginSchema, type PluginView } from './schemas.ts'

const QUEUE = 'plugin-records'
const WORKER_TIMEOUT_MS = 3_000
const AnswerSchema = Type.Object({ plugins: Type.Array(PluginSchema) })

export function createPlugins (app: FastifyInstance) {
  const listOwn = (seenBy: PluginView['seen_by']): PluginView[] => app.registry.records.map((record) => ({
    ...record,
    seen_by: seenBy,
    circuit: record.kind === 'provider' && record.status === 'active' ? app.circuits.of(record.key).view() : null
  }))

  /** Null when no worker answers in time. */
  async function askWorker (): Promise<PluginView[] | null> {
    if (!await app.workers.isAlive('worker')) return null
    try {
      const answer = await app.jobs.request(QUEUE, {}, WORKER_TIMEOUT_MS)
      return Value.Check(AnswerSchema, answer) ? answer.plugins : null
    } catch (err) {
      app.log.warn({ err }, 'scan worker did not say what became of its plugins')
      return null
    }
  }

  app.jobs.define(QUEUE, {
    concurrency: 1,
    timeoutSeconds: WORKER_TIMEOUT_MS / 1_000,
    run: async () => ({ plugins: listOwn('worker') })
  })

  return {
    /** Every plugin that was found, in load order: what the scan worker says of it, else what this process saw. */
    async list (): Promise<PluginView[]> {
      return await askWorker() ?? listOwn('web')
    }
  }
}
