import type { FastifyInstance } from 'fastify'
import type { FeaturePlugin } from '../../core/feature.ts'
import { openCallerCache } from '../../core/access/open-caller-cache.ts'
import { dropExpiredCache } from '../../core/loader/plugin-cache.ts'
import { createBasicScheme } from './sign-in/basic.ts'
import { warnOfTrustedVisitors, warnOfUntrustedProxies } from './throttle/proxy-warnings.ts'
import { createJwts } from './jwt.ts'
import { createKioskScheme } from './sign-in/kiosk.ts'
import { createOauth } from './sign-in/oauth.ts'
import { createResets } from './passwords/reset.ts'
import { createSessions } from './service.ts'
import { type SignIn, createSignIn } from './sign-in/sign-in.ts'
import { createThrottle } from './throttle-rows.ts'

declare module 'fastify' {
  interface FastifyInstance { sessions: ReturnType<typeof createSessions> }
}

const CLEAN_UP_MS = 60 * 60_000

/** The ways to sign in that only routes use. */
export interface SignInMethods {
  signIn: SignIn
  oauth: ReturnType<typeof createOauth>
  resets: ReturnType<typeof createResets>
}

/** Deletes expired rows every hour. */
function cleanUpHourly (app: FastifyInstance): void {
  const throttle = createThrottle(app.db)
  app.upkeep.repeat(CLEAN_UP_MS,
    () => Promise.all([app.sessions.dropExpired(), throttle.deleteOld(), dropExpiredCache(app.db)]),
    'expired sessions, tokens and cached responses could not be deleted')
}

const plugin: FeaturePlugin<SignInMethods> = async (app, { config }) => {
  const signIn = createSignIn(app)
  const sessions = createSessions(app, config, openCallerCache(app), signIn)
  const jwts = createJwts(app.secrets)
  const oauth = createOauth({ app, config, jwts, signIn })
  const resets = createResets(app, config, jwts)
  app.decorate('sessions', sessions)
  const schemes = [sessions.scheme, createBasicScheme(app, signIn), oauth.scheme]
  if (config.auth.kiosk_mode) schemes.push(createKioskScheme(app))
  schemes.forEach((scheme) => { app.auth.addScheme(scheme) })

  warnOfUntrustedProxies(app)
  warnOfTrustedVisitors(app, config)
  app.addHook('onSend', (request, reply) => sessions.renew(request, reply))
  app.addHook('onClose', async () => { await resets.flush() })
  cleanUpHourly(app)
  return { signIn, oauth, resets }
}

export default plugin
