import type { FastifyInstance } from 'fastify'
import { Value } from '@sinclair/typebox/value'
import { Type } from '@sinclair/typebox'
import type { ReportedLimits } from '../../core/loader/plugin-limits.ts'
import { formatDate } from '../../core/typebox.ts'
import { listProviders } from './providers.ts'
import { PluginSchema, type PluginView } from './schemas.ts'

const QUEUE = 'plugin-records'
const WORKER_TIMEOUT_MS = 3_000
const AnswerSchema = Type.Object({ plugins: Type.Array(PluginSchema) })

/** Returns the allowances that a provider's service reported; other plugins have none. */
function listAllowances (reportedLimits: ReportedLimits | undefined): Pick<PluginView, 'allowances' | 'paused_until'> {
  const allowances = reportedLimits?.allowances() ?? []
  return {
    allowances: allowances.map(({ name, remaining, total = null, resetsAt }) =>
      ({ name, remaining, total, resets_at: formatDate(resetsAt) })),
    paused_until: formatDate(reportedLimits?.findSpent()?.resetsAt ?? null)
  }
}

export function createPlugins (app: FastifyInstance) {
  const credits = new Map(listProviders(app.registry).map(({ key, attribution }) => [key, attribution]))
  const listOwn = (seenBy: PluginView['seen_by']): PluginView[] => app.registry.records.map((record) => ({
    ...record,
    seen_by: seenBy,
    attribution: record.kind === 'provider' ? credits.get(record.key) ?? null : null,
    ...listAllowances(app.registry.providers.get(record.kind === 'provider' ? record.key : '')?.reportedLimits),
    circuit: record.kind === 'provider' && record.status === 'active' ? app.circuits.of(record.key).view() : null
  }))

  /** Asks the scan worker for its plugins; null if no worker answers in time. */
  async function requestFromWorker (): Promise<PluginView[] | null> {
    if (!await app.workers.isAlive('worker')) return null
    try {
      const answer = await app.jobs.request(QUEUE, {}, WORKER_TIMEOUT_MS)
      return Value.Check(AnswerSchema, answer) ? answer.plugins : null
    } catch (err) {
      app.log.warn({ err }, 'the scan worker did not report the status of its plugins')
      return null
    }
  }

  app.jobs.define(QUEUE, {
    concurrency: 1,
    timeoutSeconds: WORKER_TIMEOUT_MS / 1_000,
    run: async () => ({ plugins: listOwn('worker') })
  })

  return {
    /** Lists every plugin in load order: as the scan worker reports it, or else as this process sees it. */
    async list (): Promise<PluginView[]> {
      return await requestFromWorker() ?? listOwn('web')
    }
  }
}
