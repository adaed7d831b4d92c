import type { FeaturePlugin } from '../../core/feature.ts'
import { defineCleanupMissing } from './cleanup-missing.ts'
import { createFirmware } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { firmware: ReturnType<typeof createFirmware> }
}

const plugin: FeaturePlugin = async (app, { config }) => {
  app.decorate('firmware', createFirmware(app, config))
  app.tasks.define(defineCleanupMissing(app))
}

export default plugin
