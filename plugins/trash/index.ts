import fp from 'fastify-plugin'
import type { FeatureOptions } from '../../core/app.ts'
import { defineEmptyTrash } from './empty-trash.ts'
import routes from './routes.ts'
import { type Trash, createTrash } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { trash: Trash }
}

export default fp<FeatureOptions>(async (app, { config }) => {
  app.decorate('trash', createTrash(app, config))
  app.tasks.define(defineEmptyTrash(app, config))
  await app.register(routes)
}, { name: 'trash', dependencies: ['database', 'auth-core', 'audit', 'library', 'roms', 'tasks', 'scans', 'editing', 'assets'] })
