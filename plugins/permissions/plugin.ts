import type { FeaturePlugin } from '../../core/feature.ts'
import { createPermissions } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { permissions: ReturnType<typeof createPermissions> }
}

const plugin: FeaturePlugin = async (app) => {
  app.decorate('permissions', createPermissions(app))
}

export default plugin
