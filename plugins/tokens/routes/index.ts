import type { FeatureRoutes } from '../../../core/feature.ts'
import { createPageRoutes } from '../../../core/web/pages/page.ts'
import createAuthorizationRoutes, { PAGE_PATH } from './authorizations.ts'
import pairingRoutes from './pairing.ts'
import tokenRoutes from './tokens.ts'

/** The page to which a device sends its user for the approval. */
const FOLDER = new URL('../page/', import.meta.url)
const PAGE = { path: PAGE_PATH, folder: FOLDER, name: 'device', script: new URL('device.js', FOLDER) }

const routes: FeatureRoutes = async (app, { config }) => {
  await app.register(tokenRoutes)
  await app.register(pairingRoutes)
  await app.register(createAuthorizationRoutes(config))
  await app.register(createPageRoutes(config, PAGE))
}

export default routes
