import fp from 'fastify-plugin'
import type { FeatureOptions } from '../../core/app.ts'
import createRoutes from './routes.ts'
import { createHeartbeat } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { heartbeat: ReturnType<typeof createHeartbeat> }
}

export default fp<FeatureOptions>(async (app, { config }) => {
  app.decorate('heartbeat', createHeartbeat(app, config))
  await app.register(createRoutes(config))
}, {
  name: 'heartbeat',
  dependencies: ['database', 'workers', 'jobs', 'loader', 'mail', 'permissions', 'users', 'library', 'platforms', 'setup', 'circuits']
})
