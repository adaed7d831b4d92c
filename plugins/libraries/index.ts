import fp from 'fastify-plugin'
import type { FeatureOptions } from '../../core/app.ts'
import routes from './routes.ts'
import { type Libraries, createLibraries } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { libraries: Libraries }
}

export default fp<FeatureOptions>(async (app, { config }) => {
  app.decorate('libraries', createLibraries(app, config))
  await app.register(routes)
}, { name: 'libraries', dependencies: ['database', 'auth-core', 'audit', 'library', 'platforms', 'roms', 'settings'] })
