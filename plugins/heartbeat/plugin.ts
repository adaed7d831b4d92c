import type { FeaturePlugin } from '../../core/feature.ts'
import { createHeartbeat } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { heartbeat: ReturnType<typeof createHeartbeat> }
}

const plugin: FeaturePlugin = async (app, { config }) => {
  app.decorate('heartbeat', createHeartbeat(app, config))
}

export default plugin
