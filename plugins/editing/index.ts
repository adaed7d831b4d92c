import fp from 'fastify-plugin'
import type { FeatureOptions } from '../../core/app.ts'
import { createArtworkForms } from './artwork-form.ts'
import { describeEditing } from './events.ts'
import createRoutes from './routes.ts'
import { createEditing } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { editing: ReturnType<typeof createEditing> }
}

export default fp<FeatureOptions>(async (app, { config }) => {
  app.decorate('editing', createEditing(app, config))
  describeEditing(app)
  app.decorateRequest('artwork', null)
  await app.register(createRoutes(createArtworkForms(app, config)))
}, {
  name: 'editing',
  dependencies: ['database', 'auth-core', 'workers', 'jobs', 'loader', 'circuits', 'permissions', 'library', 'platforms', 'roms', 'sockets']
})
