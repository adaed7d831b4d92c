import type { FastifyInstance } from 'fastify'
import { ApiError } from '../../core/errors.ts'
import { EXPORT_QUEUE } from './request-export.ts'

interface ExportJob {
  exporter: string
  /** Platforms to export; null means all. */
  platform_ids: number[] | null
}

const CONCURRENCY = 2
const TIMEOUT_SECONDS = 60 * 60

/** Defines the job for exports over HTTP, because exporters are plugins and run in the scan worker. */
export function defineExportJob (app: FastifyInstance): void {
  const closing = new AbortController()
  app.jobs.define<ExportJob>(EXPORT_QUEUE, {
    concurrency: CONCURRENCY,
    timeoutSeconds: TIMEOUT_SECONDS,
    isShared: true,
    async run ({ exporter, platform_ids: platformIds }, signal) {
      const problem = app.exports.findProblem(exporter)
      if (problem !== null) return { problem }
      return await app.exports.exportPlatforms({
        exporters: [exporter], platformIds, signal: AbortSignal.any([signal, closing.signal])
      })
    }
  })
  // This runs before the queue waits for its jobs to end.
  app.addHook('preClose', async () => {
    closing.abort(new ApiError('UNAVAILABLE', 'The scan worker is shutting down. Export again.'))
  })
}
