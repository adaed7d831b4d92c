import fp from 'fastify-plugin'
import type { FeatureOptions } from '../../core/app.ts'
import { openCallerCache } from '../../core/access/open-caller-cache.ts'
import { createPageRoutes } from '../../core/web/pages/page.ts'
import createAuthorizationRoutes, { PAGE_PATH } from './routes/authorizations.ts'
import { createAuthorizations } from './authorizations/authorizations.ts'
import { createPairing } from './codes/pairing.ts'
import pairingRoutes from './routes/pairing.ts'
import { createPolls } from './authorizations/polls.ts'
import routes from './routes/tokens.ts'
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

/** The page to which a device sends its user for the approval. */
const FOLDER = new URL('page/', import.meta.url)
const PAGE = { path: PAGE_PATH, folder: FOLDER, name: 'device', script: new URL('device.js', FOLDER) }

export default fp<FeatureOptions>(async (app, { config, role }) => {
  const tokens = createTokens(app, config)
  const pairing = createPairing(app, tokens)
  const authorizations = createAuthorizations(app, config)
  app.decorate('tokens', { ...tokens, pairing, authorizations, polls: createPolls(app) })
  app.auth.addScheme(createTokenScheme(app, config, openCallerCache(app)))
  const pageRoutes = createPageRoutes(config, PAGE)
  for (const part of [routes, pairingRoutes, createAuthorizationRoutes(config), pageRoutes]) await app.register(part)

  if (role !== 'worker') return
  const timer = setInterval(() => {
    Promise.all([pairing.dropExpired(), authorizations.dropExpired()])
      .catch((err: unknown) => { app.log.warn({ err }, 'codes that ran out were not removed') })
  }, CLEAN_UP_MS)
  app.addHook('onClose', async () => { clearInterval(timer) })
}, { name: 'tokens', dependencies: ['database', 'workers', 'auth-core', 'sockets', 'permissions', 'users', 'audit', 'devices'] })
