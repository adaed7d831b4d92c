import type { FeaturePlugin } from '../../core/feature.ts'
import { createDeletion } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { deletion: ReturnType<typeof createDeletion> }
}

const plugin: FeaturePlugin = async (app, { config }) => {
  app.decorate('deletion', createDeletion(app, config))
}

export default plugin
