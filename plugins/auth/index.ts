import formbody from '@fastify/formbody'
import fp from 'fastify-plugin'
import type { FeatureOptions } from '../../core/app.ts'
import { openCallerCache } from '../../core/access/open-caller-cache.ts'
import { dropExpiredCache } from '../../core/loader/context.ts'
import { LINK_FORM, createPageRoutes } from '../../core/web/pages/page.ts'
import { createBasicScheme } from './sign-in/basic.ts'
import { warnOfTrustedVisitors, warnOfUntrustedProxies } from './throttle/proxy-warnings.ts'
import { createJwts } from './jwt.ts'
import { createKioskScheme } from './sign-in/kiosk.ts'
import { createOauth } from './sign-in/oauth.ts'
import { RESET_PATH, createResets } from './passwords/reset.ts'
import createRoutes from './routes/auth.ts'
import { createSessions } from './service.ts'
import sessionRoutes from './routes/sessions.ts'
import { createSignIn } from './sign-in/sign-in.ts'
import { createThrottle } from './throttle-rows.ts'

declare module 'fastify' {
  interface FastifyInstance { sessions: ReturnType<typeof createSessions> }
}

const CLEAN_UP_MS = 60 * 60_000

/** The page of a reset link. */
const PAGE = { path: RESET_PATH, folder: new URL('page/', import.meta.url), name: 'reset-password', script: LINK_FORM }

export default fp<FeatureOptions>(async (app, { config, role }) => {
  const signIn = createSignIn(app)
  const sessions = createSessions(app, config, openCallerCache(app), signIn)
  const jwts = createJwts(app.secrets)
  const oauth = createOauth(app, config, jwts, signIn)
  const resets = createResets(app, config, jwts)
  app.decorate('sessions', sessions)
  const schemes = [sessions.scheme, createBasicScheme(app, signIn), oauth.scheme]
  if (config.auth.kiosk_mode) schemes.push(createKioskScheme(app))
  schemes.forEach((scheme) => { app.auth.addScheme(scheme) })

  warnOfUntrustedProxies(app)
  warnOfTrustedVisitors(app, config)
  app.addHook('onSend', (request, reply) => sessions.renew(request, reply))
  app.addHook('onClose', async () => { await resets.settle() })

  await app.register(async (routes) => {
    await routes.register(formbody)
    await routes.register(createRoutes({ signIn, oauth, resets }))
  })
  await app.register(sessionRoutes)
  await app.register(createPageRoutes(config, PAGE))

  if (role !== 'worker') return
  const throttle = createThrottle(app.pg)
  const timer = setInterval(() => {
    Promise.all([sessions.dropExpired(), throttle.dropOld(), dropExpiredCache(app.pg)])
      .catch((err: unknown) => { app.log.warn({ err }, 'expired sessions, tokens and cached answers were not removed') })
  }, CLEAN_UP_MS)
  app.addHook('onClose', async () => { clearInterval(timer) })
}, { name: 'auth', dependencies: ['auth-core', 'workers', 'audit', 'mail', 'devices', 'permissions'] })
