import type { FeaturePlugin } from '../../core/feature.ts'
import { openCallerCache } from '../../core/access/open-caller-cache.ts'
import { createAuthorizations } from './authorizations/authorizations.ts'
import { createPairing } from './codes/pairing.ts'
import { createPolls } from './authorizations/polls.ts'
import { createTokenScheme } from './scheme.ts'
import { type Tokens, createTokens } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance {
    tokens: Tokens & {
      pairing: ReturnType<typeof createPairing>
      authorizations: ReturnType<typeof createAuthorizations>
      polls: ReturnType<typeof createPolls>
    }
  }
}

const CLEAN_UP_MS = 60 * 60_000

const plugin: FeaturePlugin = async (app, { config }) => {
  const tokens = createTokens(app, config)
  const pairing = createPairing(app, tokens)
  const authorizations = createAuthorizations(app, config)
  app.decorate('tokens', { ...tokens, pairing, authorizations, polls: createPolls(app) })
  app.auth.addScheme(createTokenScheme(app, config, openCallerCache(app)))
  app.upkeep.repeat(CLEAN_UP_MS, () => Promise.all([pairing.dropExpired(), authorizations.dropExpired()]),
    'expired codes could not be deleted')
}

export default plugin
