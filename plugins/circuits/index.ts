import fp from 'fastify-plugin'
import type { FeatureOptions } from '../../core/app.ts'
import { createCircuits } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { circuits: ReturnType<typeof createCircuits> }
}

export default fp<FeatureOptions>(async (app) => {
  app.decorate('circuits', createCircuits(app))
}, { name: 'circuits', fastify: '5.x' })
