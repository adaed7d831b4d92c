import type { FeaturePlugin } from '../../core/feature.ts'
import { defineExportJob } from './jobs.ts'
import { createExports } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { exports: ReturnType<typeof createExports> }
}

const plugin: FeaturePlugin = async (app, { config }) => {
  app.decorate('exports', createExports(app, config))
  defineExportJob(app)
  app.scans.addAfterScan(async (platformIds, signal) => {
    const { errors } = await app.exports.exportAfterScan(platformIds, signal)
    return errors.map(({ platform, path, reason }) => ({ platform, path, reason: `not exported: ${reason}` }))
  })
}

export default plugin
