import type { FeaturePlugin } from '../../core/feature.ts'
import { resourcesDirOf } from '../resources/resource-key.ts'
import type { RomFileServices } from './services.ts'
import { tagInBackground } from './tags/background.ts'
import { createTagReader } from './tags/reader.ts'
import { createTagger } from './tags/tagger.ts'

const plugin: FeaturePlugin<RomFileServices> = async (app, { config, role }) => {
  const reader = createTagReader()
  const tagger = createTagger(app, reader)
  if (role === 'worker') tagInBackground(app, tagger)
  app.addHook('onClose', () => reader.close())
  return { app, tagger, resourcesDir: resourcesDirOf(config) }
}

export default plugin
