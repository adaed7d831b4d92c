import type { FeatureRoutes } from '../../../core/feature.ts'
import type { CollectionParts } from '../plugin.ts'
import { createSmartCollections } from '../smart.ts'
import { createVirtualCollections } from '../virtual.ts'
import createPlainRoutes from './collections.ts'
import createSmartRoutes from './smart.ts'
import createVirtualRoutes from './virtual.ts'

const routes: FeatureRoutes<CollectionParts> = async (app, _options, { collections, forms }) => {
  await app.register(createPlainRoutes(collections, forms))
  await app.register(createSmartRoutes(createSmartCollections(app), forms))
  await app.register(createVirtualRoutes(createVirtualCollections(app)))
}

export default routes
