import type { FeaturePlugin } from '../../core/feature.ts'
import { createHttpClient } from '../../core/http/client.ts'
import { USER_AGENT } from '../../core/loader/services.ts'
import { createCovers } from './covers.ts'
import { type Forms, createForms } from './form.ts'
import { hasVisibleCollection } from './rows.ts'
import { type Collections, createCollections } from './service.ts'

const CLEAN_UP_MS = 60 * 60_000

/** The parts of the feature that only its routes use. */
export interface CollectionParts { collections: Collections, forms: Forms }

declare module 'fastify' {
  interface FastifyInstance { collections: Pick<Collections, 'setPicture'> }
}

const plugin: FeaturePlugin<CollectionParts> = async (app, { config }) => {
  const http = createHttpClient({ name: 'covers', userAgent: USER_AGENT, log: app.log })
  app.addHook('onClose', () => http.close())
  app.resources.guardCollections(hasVisibleCollection)
  const covers = createCovers(config, app.store, http)
  const collections = createCollections(app, covers)
  app.decorate('collections', { setPicture: collections.setPicture })
  app.decorateRequest('cover', null)
  app.upkeep.repeat(CLEAN_UP_MS, () => collections.clean(), 'unused pictures of collections could not be deleted')
  return { collections, forms: createForms(covers) }
}

export default plugin
