import type { FeatureRoutes } from '../../../core/feature.ts'
import downloadRoutes from './downloads.ts'
import romRoutes from './roms.ts'

const routes: FeatureRoutes = async (app) => {
  await app.register(romRoutes)
  await app.register(downloadRoutes)
  app.addHook('onListen', () => {
    app.roms.prepareLists(app.db).catch((err: unknown) => { app.log.debug({ err }, 'lists could not be prepared') })
  })
}

export default routes
