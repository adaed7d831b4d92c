import type { FeaturePlugin } from '../../core/feature.ts'
import { defineCleanup } from '../tasks/cleanup.ts'
import { recordRoutes } from './recorder.ts'
import { createAudit } from './log.ts'

declare module 'fastify' {
  interface FastifyInstance { audit: ReturnType<typeof createAudit> }
}

const plugin: FeaturePlugin = async (app, { config }) => {
  const audit = createAudit(app)
  app.decorate('audit', audit)
  recordRoutes(app)
  const days = config.auth.audit_log_retention_days
  app.tasks.define(defineCleanup({
    name: 'cleanup_audit_log',
    title: 'Scheduled audit log cleanup',
    description: `Deletes audit events older than ${days} days`,
    enabled: days > 0,
    manual_run: false,
    cron_string: '30 4 * * *',
    async run () { await audit.dropOlderThan(days) }
  }))
}

export default plugin
