import fp from 'fastify-plugin'
import type { FeatureOptions } from '../../core/app.ts'
import routes from './routes.ts'
import { createTokens } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { tokens: ReturnType<typeof createTokens> }
}

export default fp<FeatureOptions>(async (app, { config }) => {
  const tokens = createTokens(app, config)
  app.decorate('tokens', tokens)
  app.auth.addScheme(tokens.scheme)
  await app.register(routes)
}, { name: 'tokens', dependencies: ['database', 'auth-core', 'permissions', 'users'] })
