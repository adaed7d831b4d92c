import fp from 'fastify-plugin'
import type { FeatureOptions } from '../../core/app.ts'
import { noteEvents } from './events.ts'
import routes from './routes.ts'
import { createNotes } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { notes: ReturnType<typeof createNotes> }
}

export default fp<FeatureOptions>(async (app, { config }) => {
  app.sockets.describe(noteEvents)
  app.decorate('notes', createNotes(app, config))
  await app.register(routes)
}, { name: 'notes', dependencies: ['database', 'auth-core', 'permissions', 'roms', 'users', 'sockets'] })
