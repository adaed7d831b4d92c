import type { FeaturePlugin } from '../../core/feature.ts'
import { defineIndexBuilds } from './index-builds.ts'
import { createPlugins } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { plugins: ReturnType<typeof createPlugins> }
}

const plugin: FeaturePlugin = async (app, { config }) => {
  app.decorate('plugins', createPlugins(app))
  for (const definition of defineIndexBuilds(app, config)) app.tasks.define(definition)
}

export default plugin
