import fp from 'fastify-plugin'
import type { FeatureOptions } from '../../core/app.ts'
import { defineCleanup } from './cleanup.ts'
import routes from './routes.ts'
import { createUploads } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { uploads: ReturnType<typeof createUploads> }
}

export default fp<FeatureOptions>(async (app, { config }) => {
  app.decorate('uploads', createUploads(app, config))
  app.tasks.define(defineCleanup(app))
  await app.register(routes)
}, { name: 'uploads', dependencies: ['database', 'auth-core', 'workers', 'library', 'platforms', 'tasks', 'scans'] })
