import fp from 'fastify-plugin'
import type { FeatureOptions } from '../../core/app.ts'
import routes from './routes.ts'
import { createSearch } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { providerSearch: ReturnType<typeof createSearch> }
}

export default fp<FeatureOptions>(async (app, { config }) => {
  app.decorate('providerSearch', createSearch(app, config))
  await app.register(routes)
}, { name: 'search', dependencies: ['database', 'auth-core', 'jobs', 'loader', 'circuits', 'permissions', 'platforms', 'roms'] })
