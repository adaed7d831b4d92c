import fp from 'fastify-plugin'
import type { FeatureOptions } from '../../core/app.ts'
import routes from './routes.ts'
import { createRomFiles } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { romFiles: ReturnType<typeof createRomFiles> }
}

export default fp<FeatureOptions>(async (app, { config }) => {
  app.decorate('romFiles', createRomFiles(app, config))
  await app.register(routes)
}, {
  name: 'rom-files',
  dependencies: ['database', 'auth-core', 'library', 'resources', 'roms', 'editing', 'scans', 'trash']
})
