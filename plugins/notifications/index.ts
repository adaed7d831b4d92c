import fp from 'fastify-plugin'
import type { FeatureOptions } from '../../core/app.ts'
import { notificationEvents } from './events.ts'
import { followOutcomes } from './notify-outcomes.ts'
import routes from './routes.ts'
import { createNotifications } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { notifications: ReturnType<typeof createNotifications> }
}

export default fp<FeatureOptions>(async (app, { config }) => {
  app.sockets.describe(notificationEvents)
  app.decorate('notifications', createNotifications(app, config))
  followOutcomes(app, config)
  await app.register(routes)
}, { name: 'notifications', dependencies: ['database', 'auth-core', 'sockets', 'channels', 'tasks', 'users', 'circuits', 'loader'] })
