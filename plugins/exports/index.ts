import fp from 'fastify-plugin'
import type { FeatureOptions } from '../../core/app.ts'
import { defineExportJob } from './jobs.ts'
import routes from './routes.ts'
import { createExports } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { exports: ReturnType<typeof createExports> }
}

export default fp<FeatureOptions>(async (app, { config }) => {
  app.decorate('exports', createExports(app, config))
  defineExportJob(app)
  await app.register(routes)
  app.scans.addAfterScan(async (platformIds, signal) => {
    const { errors } = await app.exports.exportAfterScan(platformIds, signal)
    return errors.map(({ platform, path, reason }) => ({ platform, path, reason: `not exported: ${reason}` }))
  })
}, { name: 'exports', dependencies: ['database', 'auth-core', 'jobs', 'workers', 'loader', 'library', 'platforms', 'scans'] })
