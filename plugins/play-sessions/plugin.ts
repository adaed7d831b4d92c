import type { FeaturePlugin } from '../../core/feature.ts'
import { createPlaySessions } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { playSessions: ReturnType<typeof createPlaySessions> }
}

const plugin: FeaturePlugin = async (app) => {
  app.decorate('playSessions', createPlaySessions(app))
}

export default plugin
