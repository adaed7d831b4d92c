import type { FeaturePlugin } from '../../core/feature.ts'
import { defineUploadCleanup } from './cleanup.ts'
import { createUploads } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { uploads: ReturnType<typeof createUploads> }
}

const plugin: FeaturePlugin = async (app, { config }) => {
  app.decorate('uploads', createUploads(app, config))
  app.tasks.define(defineUploadCleanup(app))
}

export default plugin
