import fp from 'fastify-plugin'
import type { FeatureOptions } from '../../core/app.ts'
import routes from './routes.ts'
import { type Setup, createSetup } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { setup: Setup }
}

export default fp<FeatureOptions>(async (app) => {
  app.decorate('setup', createSetup(app))
  await app.register(routes)
}, { name: 'setup', dependencies: ['database', 'auth-core', 'loader', 'permissions', 'library', 'users', 'platforms'] })
