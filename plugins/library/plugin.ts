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
  const [long, short] = [openLongReads(app, 'svc lists'), openLongReads(app, 'svc list updates')]
  app.decorate('longReads', long.reads)
  app.decorate('shortReads', short.reads)
  app.addHook('onClose', async () => { await Promise.all([long.close(), short.close()]) })
}

export default plugin
