import fp from 'fastify-plugin'
import type { FeatureOptions } from '../../core/app.ts'
import { listenForActivity } from './events.ts'
import routes from './routes.ts'
import { createActivity } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { activity: ReturnType<typeof createActivity> }
}

export default fp<FeatureOptions>(async (app) => {
  app.decorate('activity', createActivity(app))
  listenForActivity(app)
  await app.register(routes)
}, { name: 'activity', dependencies: ['database', 'sockets', 'devices', 'permissions', 'resources', 'roms'] })
