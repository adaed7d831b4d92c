import type { FeaturePlugin } from '../../core/feature.ts'
import { defineCleanup } from '../tasks/cleanup.ts'
import { tasksConfig } from '../tasks/config.ts'
import { createSync } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { sync: ReturnType<typeof createSync> }
}

const plugin: FeaturePlugin = async (app, { config }) => {
  const sync = createSync(app)
  app.decorate('sync', sync)
  app.tasks.define(defineCleanup({
    name: 'cleanup_sync_sessions',
    title: 'Scheduled cleanup of sync sessions',
    description: 'Marks sync sessions as failed that a device did not complete within a day, and deletes those that ended 30 days ago',
    enabled: tasksConfig.of(config).cleanup_sync_sessions,
    cron_string: tasksConfig.of(config).cleanup_sync_sessions_cron,
    async run () { await sync.expire() }
  }))
}

export default plugin
