import type { FeaturePlugin } from '../../core/feature.ts'
import { defineIndexBuilds } from './index-builds.ts'
import { createPlugins } from './service.ts'
import { createPluginSettings } from './settings-service.ts'

declare module 'fastify' {
  interface FastifyInstance {
    plugins: ReturnType<typeof createPlugins> & { settings: ReturnType<typeof createPluginSettings> }
  }
}

const plugin: FeaturePlugin = async (app, { config }) => {
  app.decorate('plugins', { ...createPlugins(app), settings: createPluginSettings(app, config) })
  for (const definition of defineIndexBuilds(app, config)) app.tasks.define(definition)
}

export default plugin
