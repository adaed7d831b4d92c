import fp from 'fastify-plugin'
import type { FeatureOptions } from '../../core/app.ts'
import routes from './routes.ts'
import { createSettings } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { settings: ReturnType<typeof createSettings> }
}

export default fp<FeatureOptions>(async (app, { config }) => {
  app.decorate('settings', createSettings(app, config))
  await app.register(routes)
}, { name: 'settings', dependencies: ['database', 'loader', 'audit', 'platforms'] })
