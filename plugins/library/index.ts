import fp from 'fastify-plugin'
import type { FeatureOptions } from '../../core/app.ts'
import { listExporterNames } from './exporter-names.ts'
import { type LongReads, openLongReads } from './long-reads.ts'
import { type Library, createLibrary } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance {
    library: Library
    longReads: LongReads
  }
}

export default fp<FeatureOptions>(async (app, { config }) => {
  app.decorate('library', createLibrary(app.pg, config, listExporterNames(app.registry)))
  app.decorate('longReads', openLongReads(app))
  app.addHook('onClose', () => app.longReads.destroy())
}, { name: 'library', dependencies: ['database', 'loader'] })
