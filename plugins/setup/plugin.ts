import type { FeaturePlugin } from '../../core/feature.ts'
import { type Setup, createSetup } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { setup: Setup }
}

const plugin: FeaturePlugin = async (app) => {
  app.decorate('setup', createSetup(app))
}

export default plugin
