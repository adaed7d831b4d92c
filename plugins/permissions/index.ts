import fp from 'fastify-plugin'
import type { FeatureOptions } from '../../core/app.ts'
import routes from './routes.ts'
import { createPermissions, permissionEvents } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { permissions: ReturnType<typeof createPermissions> }
}

export default fp<FeatureOptions>(async (app) => {
  app.sockets.describe(permissionEvents)
  app.decorate('permissions', createPermissions(app))
  await app.register(routes)
}, { name: 'permissions', dependencies: ['database', 'auth-core', 'sockets', 'audit'] })
