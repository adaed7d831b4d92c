import type { FeaturePlugin } from '../../core/feature.ts'
import { type ArtworkForms, createArtworkForms } from './artwork-form.ts'
import { describeEditing } from './events.ts'
import { createEditing } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { editing: ReturnType<typeof createEditing> }
}

const plugin: FeaturePlugin<ArtworkForms> = async (app, { config }) => {
  app.decorate('editing', createEditing(app, config))
  describeEditing(app)
  app.decorateRequest('artwork', null)
  return createArtworkForms(app, config)
}

export default plugin
