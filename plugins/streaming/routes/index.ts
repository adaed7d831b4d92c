import type { FeatureRoutes } from '../../../core/feature.ts'
import { streamingConfig } from '../config.ts'
import createAdminRoutes from './admin.ts'
import playerRoutes from './player.ts'

const routes: FeatureRoutes = async (app, { config }) => {
  await app.register(playerRoutes)
  await app.register(createAdminRoutes(() => streamingConfig.of(config).enabled))
}

export default routes
