import type { FeaturePlugin } from '../../core/feature.ts'
import { defineEmptyTrash } from './empty-trash.ts'
import { type Trash, createTrash } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { trash: Trash }
}

const plugin: FeaturePlugin = async (app, { config }) => {
  app.decorate('trash', createTrash(app, config))
  app.tasks.define(defineEmptyTrash(app, config))
}

export default plugin
