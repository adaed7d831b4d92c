import fp from 'fastify-plugin'
import type { FeatureOptions } from '../../core/app.ts'
import { createMail } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { mail: ReturnType<typeof createMail> }
}

export default fp<FeatureOptions>(async (app, { config }) => {
  app.decorate('mail', createMail(config, app.log))
}, { name: 'mail' })
