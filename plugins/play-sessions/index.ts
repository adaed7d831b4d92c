import fp from 'fastify-plugin'
import type { FeatureOptions } from '../../core/app.ts'
import routes from './routes.ts'
import { createPlaySessions } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { playSessions: ReturnType<typeof createPlaySessions> }
}

export default fp<FeatureOptions>(async (app) => {
  app.decorate('playSessions', createPlaySessions(app))
  await app.register(routes)
}, { name: 'play-sessions', dependencies: ['database', 'auth-core', 'devices', 'permissions', 'roms'] })
