import type { FeaturePlugin } from '../../core/feature.ts'
import { createPlatforms } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { platforms: ReturnType<typeof createPlatforms> }
}

const plugin: FeaturePlugin = async (app, { config }) => {
  app.decorate('platforms', createPlatforms(app, config))
}

export default plugin
