import type { FeaturePlugin } from '../../core/feature.ts'
import { listenForActivity } from './events.ts'
import { createActivity } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { activity: ReturnType<typeof createActivity> }
}

const plugin: FeaturePlugin = async (app) => {
  app.decorate('activity', createActivity(app))
  listenForActivity(app)
}

export default plugin
