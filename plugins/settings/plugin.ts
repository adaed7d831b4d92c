import type { FeaturePlugin } from '../../core/feature.ts'
import { createSettings } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { settings: ReturnType<typeof createSettings> }
}

const plugin: FeaturePlugin = async (app, { config }) => {
  app.decorate('settings', createSettings(app, config))
}

export default plugin
