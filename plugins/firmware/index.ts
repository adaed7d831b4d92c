import fp from 'fastify-plugin'
import type { FeatureOptions } from '../../core/app.ts'
import { defineCleanupMissing } from './cleanup-missing.ts'
import routes from './routes.ts'
import { createFirmware } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { firmware: ReturnType<typeof createFirmware> }
}

export default fp<FeatureOptions>(async (app, { config }) => {
  app.decorate('firmware', createFirmware(app, config))
  await app.register(routes)
  app.tasks.define(defineCleanupMissing(app))
}, { name: 'firmware', dependencies: ['database', 'auth-core', 'permissions', 'library', 'platforms', 'resources', 'tasks'] })
