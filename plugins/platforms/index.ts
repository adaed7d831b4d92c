import fp from 'fastify-plugin'
import type { FeatureOptions } from '../../core/app.ts'
import routes from './routes.ts'
import { createPlatforms } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { platforms: ReturnType<typeof createPlatforms> }
}

export default fp<FeatureOptions>(async (app, { config }) => {
  app.decorate('platforms', createPlatforms(app, config))
  await app.register(routes)
}, { name: 'platforms', dependencies: ['database', 'auth-core', 'loader', 'library'] })
