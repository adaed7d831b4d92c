import { join } from 'node:path'
import type { FeaturePlugin } from '../../core/feature.ts'
import type { RomFileServices } from './services.ts'
import { tagInBackground } from './tags/background.ts'
import { createTagReader } from './tags/reader.ts'
import { createTagger } from './tags/tagger.ts'

const plugin: FeaturePlugin<RomFileServices> = async (app, { config, role }) => {
  const reader = createTagReader()
  const tagger = createTagger(app, config, reader)
  if (role === 'worker') tagInBackground(app, tagger)
  app.addHook('onClose', () => reader.close())
  return { app, tagger, resourcesDir: join(config.data_dir, 'resources') }
}

export default plugin
