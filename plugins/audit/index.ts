import { Type } from '@sinclair/typebox'
import fp from 'fastify-plugin'
import type { FeatureOptions } from '../../core/app.ts'
import routes from './routes.ts'
import { recordRoutes } from './recorder.ts'
import { createAudit } from './log.ts'

declare module 'fastify' {
  interface FastifyInstance { audit: ReturnType<typeof createAudit> }
}

export default fp<FeatureOptions>(async (app, { config }) => {
  const audit = createAudit(app)
  app.decorate('audit', audit)
  recordRoutes(app)
  await app.register(routes)
  const days = config.auth.audit_log_retention_days
  app.tasks.define({
    name: 'cleanup_audit_log',
    title: 'Scheduled audit log cleanup',
    description: `Deletes audit events older than ${days} days`,
    type: 'cleanup',
    group: 'scheduled',
    enabled: days > 0,
    manual_run: false,
    cron_string: '30 4 * * *',
    destructive: false,
    isSingle: true,
    arguments: Type.Object({}, { additionalProperties: false }),
    async run () { await audit.dropOlderThan(days) }
  })
}, { name: 'audit', dependencies: ['database', 'auth-core', 'tasks'] })
