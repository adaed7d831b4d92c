import fp from 'fastify-plugin'
import type { FeatureOptions } from '../../core/app.ts'
import routes from './routes.ts'
import { createPlugins } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { plugins: ReturnType<typeof createPlugins> }
}

export default fp<FeatureOptions>(async (app) => {
  app.decorate('plugins', createPlugins(app))
  await app.register(routes)
}, { name: 'plugins', dependencies: ['workers', 'jobs', 'loader', 'circuits', 'auth-core'] })
