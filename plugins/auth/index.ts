import fp from 'fastify-plugin'
import type { FeatureOptions } from '../../core/app.ts'
import createRoutes, { sessionCookie } from './routes.ts'
import { SESSION_COOKIE, createAuth } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance { sessions: ReturnType<typeof createAuth> }
}

const CLEAN_UP_MS = 60 * 60_000

export default fp<FeatureOptions>(async (app, { config, role }) => {
  const sessions = createAuth(app, config)
  app.decorate('sessions', sessions)
  sessions.schemes.forEach((scheme) => { app.auth.addScheme(scheme) })

  app.addHook('onSend', async (request, reply) => {
    const session = request.caller?.session_id
    const token = request.cookies[SESSION_COOKIE]
    if (session === undefined || session === null || token === undefined) return
    // Signing out and in again set the cookie themselves.
    if (reply.hasHeader('set-cookie')) return
    await sessions.renew(request.em, session)
    reply.setCookie(SESSION_COOKIE, token, sessionCookie(config, request))
  })

  await app.register(createRoutes(config))

  if (role !== 'worker') return
  const timer = setInterval(() => {
    sessions.dropExpired().catch((err: unknown) => { app.log.warn({ err }, 'expired sessions were not removed') })
  }, CLEAN_UP_MS)
  app.addHook('onClose', async () => { clearInterval(timer) })
}, { name: 'auth', dependencies: ['auth-core', 'permissions', 'users'] })
