import fp from 'fastify-plugin'
import type { FeatureOptions } from '../../core/app.ts'
import routes from './routes.ts'
import { createMatching } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { matching: ReturnType<typeof createMatching> }
}

export default fp<FeatureOptions>(async (app, { config }) => {
  app.decorate('matching', createMatching(app, config))
  await app.register(routes)
}, { name: 'matching', dependencies: ['database', 'auth-core', 'jobs', 'loader', 'circuits', 'permissions', 'platforms', 'roms'] })
