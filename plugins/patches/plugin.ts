import type { FeaturePlugin } from '../../core/feature.ts'
import { createPatches } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { patches: ReturnType<typeof createPatches> }
}

const plugin: FeaturePlugin = async (app, { config }) => {
  app.decorate('patches', createPatches(app, config))
}

export default plugin
