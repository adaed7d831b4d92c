import type { FeaturePlugin } from '../../core/feature.ts'
import { followOutcomes } from './notify-outcomes.ts'
import { createNotifications } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { notifications: ReturnType<typeof createNotifications> }
}

const plugin: FeaturePlugin = async (app, { config }) => {
  app.decorate('notifications', createNotifications(app, config))
  followOutcomes(app, config)
}

export default plugin
