import fp from 'fastify-plugin'
import type { FeatureOptions } from '../../core/app.ts'
import createRoutes from './routes.ts'
import { createTitles } from './titles/titles.ts'

export default fp<FeatureOptions>(async (app, { config }) => {
  const titles = createTitles(app, config)
  app.tasks.define(titles.task)
  await app.register(createRoutes(config, titles))
}, { name: 'feeds', dependencies: ['auth-core', 'tasks', 'permissions', 'platforms', 'resources', 'roms'] })
