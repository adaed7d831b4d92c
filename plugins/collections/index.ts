import fp from 'fastify-plugin'
import type { FeatureOptions } from '../../core/app.ts'
import { createHttpClient } from '../../core/http/client.ts'
import { USER_AGENT } from '../../core/loader/services.ts'
import { createCovers } from './covers.ts'
import { collectionEvents } from './events.ts'
import { createForms } from './form.ts'
import { hasVisibleCollection } from './rows.ts'
import createPlainRoutes from './routes/collections.ts'
import createSmartRoutes from './routes/smart.ts'
import createVirtualRoutes from './routes/virtual.ts'
import { createCollections } from './service.ts'
import { createSmartCollections } from './smart.ts'
import { createVirtualCollections } from './virtual.ts'

const CLEAN_UP_MS = 60 * 60_000

export default fp<FeatureOptions>(async (app, { config, role }) => {
  const http = createHttpClient({ name: 'covers', userAgent: USER_AGENT, log: app.log })
  app.addHook('onClose', () => http.close())
  app.resources.guardCollections(hasVisibleCollection)
  const covers = createCovers(config, http)
  const forms = createForms(covers)
  const collections = createCollections(app, covers)
  app.sockets.describe(collectionEvents)
  app.decorateRequest('cover', null)
  await app.register(createPlainRoutes(collections, forms))
  await app.register(createSmartRoutes(createSmartCollections(app), forms))
  await app.register(createVirtualRoutes(createVirtualCollections(app)))

  if (role !== 'worker') return
  const timer = setInterval(() => {
    collections.clean().catch((err: unknown) => { app.log.warn({ err }, 'pictures of no collection were not removed') })
  }, CLEAN_UP_MS)
  app.addHook('onClose', async () => { clearInterval(timer) })
}, { name: 'collections', dependencies: ['database', 'auth-core', 'sockets', 'audit', 'permissions', 'library', 'resources', 'roms'] })
