import fp from 'fastify-plugin'
import type { FeatureOptions } from '../../core/app.ts'
import routes from './routes.ts'
import { createPatches } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { patches: ReturnType<typeof createPatches> }
}

export default fp<FeatureOptions>(async (app, { config }) => {
  app.decorate('patches', createPatches(app, config))
  await app.register(routes)
}, { name: 'patches', dependencies: ['database', 'workers', 'auth-core', 'permissions', 'library', 'resources', 'roms'] })
