import type { FeatureRoutes } from '../../../core/feature.ts'
import type { Forms } from '../upload-form.ts'
import accountRoutes from './accounts.ts'
import contentRoutes from './content.ts'
import rawRoutes from './raw.ts'
import createSaveRoutes from './saves.ts'
import createScreenshotRoutes from './screenshots.ts'
import createStateRoutes from './states.ts'
import createVersionRoutes from './versions.ts'

const routes: FeatureRoutes<Forms> = async (app, _options, forms) => {
  await app.register(async (uploads) => {
    uploads.addHook('onRequest', forms.checkLength)
    uploads.addHook('onSend', forms.discard)
    await uploads.register(createSaveRoutes(forms))
    await uploads.register(createStateRoutes(forms))
    await uploads.register(createScreenshotRoutes(forms))
    await uploads.register(createVersionRoutes(forms))
    await uploads.register(contentRoutes)
  })
  await app.register(accountRoutes)
  await app.register(rawRoutes)
}

export default routes
