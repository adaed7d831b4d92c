import { Type } from '@sinclair/typebox'
import fp from 'fastify-plugin'
import type { FeatureOptions } from '../../core/app.ts'
import { syncEvents } from './events.ts'
import routes from './routes.ts'
import { createSync } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { sync: ReturnType<typeof createSync> }
}

export default fp<FeatureOptions>(async (app, { config }) => {
  const sync = createSync(app)
  app.sockets.describe(syncEvents)
  app.decorate('sync', sync)
  await app.register(routes)
  app.tasks.define({
    name: 'cleanup_sync_sessions',
    title: 'Scheduled cleanup of sync sessions',
    description: 'Fails sync sessions that a device did not complete within a day, and deletes those that ended 30 days ago',
    type: 'cleanup',
    group: 'scheduled',
    enabled: config.tasks.cleanup_sync_sessions,
    manual_run: true,
    cron_string: config.tasks.cleanup_sync_sessions_cron,
    destructive: false,
    isSingle: true,
    arguments: Type.Object({}, { additionalProperties: false }),
    async run () { await sync.expire() }
  })
}, { name: 'sync', dependencies: ['database', 'auth-core', 'sockets', 'tasks', 'devices', 'play-sessions'] })
