import fp from 'fastify-plugin'
import type { FeatureOptions } from '../../core/app.ts'
import { type Library, createLibrary } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { library: Library }
}

export default fp<FeatureOptions>(async (app, { config }) => {
  app.decorate('library', createLibrary(config))
}, { name: 'library' })
