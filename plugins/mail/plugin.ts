import type { FeaturePlugin } from '../../core/feature.ts'
import { createMail } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { mail: ReturnType<typeof createMail> }
}

const plugin: FeaturePlugin = async (app, { config }) => {
  app.decorate('mail', createMail(config, app.log))
}

export default plugin
