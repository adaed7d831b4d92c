import fp from 'fastify-plugin'
import type { FeatureOptions } from '../../core/app.ts'
import { defineIndexBuilds } from './index-builds.ts'
import routes from './routes.ts'
import { createPlugins } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { plugins: ReturnType<typeof createPlugins> }
}

export default fp<FeatureOptions>(async (app, { config }) => {
  app.decorate('plugins', createPlugins(app))
  for (const definition of defineIndexBuilds(app, config)) app.tasks.define(definition)
  await app.register(routes)
}, { name: 'plugins', dependencies: ['workers', 'jobs', 'loader', 'circuits', 'tasks', 'auth-core'] })
