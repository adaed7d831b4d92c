import type { FeaturePlugin } from '../../core/feature.ts'
import { followSettings } from './follow-settings.ts'
import { createSettings } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { settings: ReturnType<typeof createSettings> }
}

const plugin: FeaturePlugin = async (app, { config, role }) => {
  app.decorate('settings', createSettings(app, config))
  if (role !== 'command') followSettings(app, config)
}

export default plugin
