import fp from 'fastify-plugin'
import type { FeatureOptions } from '../../core/app.ts'
import { deletionEvents } from './events.ts'
import routes from './routes.ts'
import { createDeletion } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { deletion: ReturnType<typeof createDeletion> }
}

export default fp<FeatureOptions>(async (app, { config }) => {
  app.sockets.describe(deletionEvents)
  app.decorate('deletion', createDeletion(app, config))
  await app.register(routes)
}, { name: 'deletion', dependencies: ['database', 'auth-core', 'permissions', 'library', 'roms', 'sockets', 'trash'] })
