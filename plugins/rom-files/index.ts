import fp from 'fastify-plugin'
import type { FeatureOptions } from '../../core/app.ts'
import routes from './routes.ts'
import { createRomFiles } from './service.ts'
import { tagInBackground } from './tags/background.ts'
import { createTagReader } from './tags/reader.ts'
import { createTagger } from './tags/tagger.ts'

declare module 'fastify' {
  interface FastifyInstance { romFiles: ReturnType<typeof createRomFiles> }
}

export default fp<FeatureOptions>(async (app, { config, role }) => {
  const reader = createTagReader()
  const tagger = createTagger(app, config, reader)
  app.decorate('romFiles', createRomFiles(app, config, tagger))
  await app.register(routes)
  if (role === 'worker') tagInBackground(app, tagger)
  app.addHook('onClose', () => reader.close())
}, {
  name: 'rom-files',
  dependencies: ['database', 'workers', 'auth-core', 'library', 'tasks', 'resources', 'roms', 'editing', 'scans', 'trash']
})
