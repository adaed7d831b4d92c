import fp from 'fastify-plugin'
import type { FeatureOptions } from '../../core/app.ts'
import { createPermissions } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { permissions: ReturnType<typeof createPermissions> }
}

export default fp<FeatureOptions>(async (app) => {
  app.decorate('permissions', createPermissions(app))
}, { name: 'permissions', dependencies: ['database', 'auth-core'] })
