import type { FeaturePlugin } from '../../core/feature.ts'
import { defineCleanup } from './cleanup.ts'
import { createUploads } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { uploads: ReturnType<typeof createUploads> }
}

const plugin: FeaturePlugin = async (app, { config }) => {
  app.decorate('uploads', createUploads(app, config))
  app.tasks.define(defineCleanup(app))
}

export default plugin
