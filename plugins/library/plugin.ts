import type { FeaturePlugin } from '../../core/feature.ts'
import { listExporterNames } from './exporter-names.ts'
import { type LongReads, openLongReads } from './long-reads.ts'
import { type Library, createLibrary } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance {
    library: Library
    longReads: LongReads
    /** Like `longReads`, for short transactions that must not wait for long ones. */
    shortReads: LongReads
  }
}

const plugin: FeaturePlugin = async (app, { config }) => {
  app.decorate('library', createLibrary(app.db, config, listExporterNames(app.registry)))
  app.decorate('longReads', openLongReads(app, 'svc lists'))
  app.decorate('shortReads', openLongReads(app, 'svc list updates'))
  app.addHook('onClose', async () => { await Promise.all([app.longReads.destroy(), app.shortReads.destroy()]) })
}

export default plugin
