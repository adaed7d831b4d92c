import { Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import { isSecureRequest } from '../../core/access/auth.ts'
import { basePath } from '../../core/config/base-url.ts'
import type { FeatureRoutes } from '../../core/feature.ts'
import { ErrorSchema } from '../../core/typebox.ts'
import { ATTEMPT_COOKIE, ATTEMPT_SECONDS } from './sign-in-attempts.ts'
import { CALLBACK_PATH } from './settings.ts'

const tags = ['auth']
const refusals = { 400: ErrorSchema, 404: ErrorSchema, 503: ErrorSchema }

/** Parses the raw query, because a repeated name must be visible. */
const queryOf = ({ url }: FastifyRequest) => new URLSearchParams(url.includes('?') ? url.slice(url.indexOf('?')) : '')

const routes: FeatureRoutes = async (app, { config }) => {
  const home = `${basePath(config)}/`

  app.get('/api/login/openid', {
    schema: {
      operationId: 'beginOpenidLogin',
      tags,
      summary: 'Go to the OpenID provider to sign in',
      response: { 302: Type.Null({ description: 'To the provider' }), ...refusals }
    },
    config: { public: true }
  }, async (request, reply) => {
    const { url, cookie } = await app.oidc.begin()
    reply.setCookie(ATTEMPT_COOKIE, cookie, {
      // Lax, because the provider's page redirects the browser back.
      path: home, httpOnly: true, sameSite: 'lax', secure: isSecureRequest(request, config), maxAge: ATTEMPT_SECONDS
    })
    return reply.header('cache-control', 'no-store').redirect(url, 302)
  })

  app.get(CALLBACK_PATH, {
    schema: {
      operationId: 'finishOpenidLogin',
      tags,
      summary: 'Return from the OpenID provider with a session',
      response: {
        307: Type.Null({ description: 'To the front page, with a session' }), ...refusals, 401: ErrorSchema, 403: ErrorSchema
      }
    },
    config: { public: true }
  }, async (request, reply) => {
    reply.header('cache-control', 'no-store')
    const answer = queryOf(request)
    const attempt = await app.oidc.consume(request, request.cookies[ATTEMPT_COOKIE], answer)
    // Only now, because the response to an older attempt, such as that of another tab, must not end the present one.
    reply.clearCookie(ATTEMPT_COOKIE, { path: home })
    const { user, idToken } = await app.oidc.finish(request, attempt, answer)
    await app.sessions.signIn(request, reply, user, { idToken, by: 'oidc' })
    return reply.redirect(home, 307)
  })
}

export default routes
