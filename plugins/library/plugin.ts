import type { FeaturePlugin } from '../../core/feature.ts'
import { listExporterNames } from './exporter-names.ts'
import { type LongReads, openLongReads } from './long-reads.ts'
import { type Library, createLibrary } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance {
    library: Library
    longReads: LongReads
  }
}

const plugin: FeaturePlugin = async (app, { config }) => {
  app.decorate('library', createLibrary(app.db, config, listExporterNames(app.registry)))
  app.decorate('longReads', openLongReads(app))
  app.addHook('onClose', () => app.longReads.destroy())
}

export default plugin
