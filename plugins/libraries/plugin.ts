import type { FeaturePlugin } from '../../core/feature.ts'
import { type Libraries, createLibraries } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { libraries: Libraries }
}

const plugin: FeaturePlugin = async (app, { config }) => {
  app.decorate('libraries', createLibraries(app, config))
}

export default plugin
