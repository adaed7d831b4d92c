import type { FeaturePlugin } from '../../core/feature.ts'
import { createSearch } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { providerSearch: ReturnType<typeof createSearch> }
}

const plugin: FeaturePlugin = async (app, { config }) => {
  app.decorate('providerSearch', createSearch(app, config))
}

export default plugin
