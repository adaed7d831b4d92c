import fp from 'fastify-plugin'
import type { FeatureOptions } from '../../core/app.ts'
import { createDevices } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { devices: ReturnType<typeof createDevices> }
}

export default fp<FeatureOptions>(async (app) => {
  app.decorate('devices', createDevices())
}, { name: 'devices', dependencies: ['database'] })
