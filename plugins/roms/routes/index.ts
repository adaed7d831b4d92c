import type { FeatureRoutes } from '../../../core/feature.ts'
import downloadRoutes from './downloads.ts'
import romRoutes from './roms.ts'

const routes: FeatureRoutes = async (app) => {
  await app.register(romRoutes)
  await app.register(downloadRoutes)
}

export default routes
