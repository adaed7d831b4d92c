import type { FeaturePlugin } from '../../core/feature.ts'
import { createRomFiles } from './service.ts'
import { tagInBackground } from './tags/background.ts'
import { createTagReader } from './tags/reader.ts'
import { createTagger } from './tags/tagger.ts'

declare module 'fastify' {
  interface FastifyInstance { romFiles: ReturnType<typeof createRomFiles> }
}

const plugin: FeaturePlugin = async (app, { config, role }) => {
  const reader = createTagReader()
  const tagger = createTagger(app, config, reader)
  app.decorate('romFiles', createRomFiles(app, config, tagger))
  if (role === 'worker') tagInBackground(app, tagger)
  app.addHook('onClose', () => reader.close())
}

export default plugin
