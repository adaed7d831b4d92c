import type { FeaturePlugin } from '../../core/feature.ts'
import { createNotes } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { notes: ReturnType<typeof createNotes> }
}

const plugin: FeaturePlugin = async (app, { config }) => {
  app.decorate('notes', createNotes(app, config))
}

export default plugin
