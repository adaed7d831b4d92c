import { Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isSecureRequest } from '../../core/auth.ts'
import { type Config, basePath } from '../../core/config.ts'
import { ApiError } from '../../core/errors.ts'
import type { Routes } from '../../core/typebox.ts'
import { SESSION_COOKIE, readBasic } from './service.ts'

const tags = ['auth']

/** The cookie of a login; its path covers everything that is served. */
export function sessionCookie (config: Config, request: FastifyRequest) {
  return {
    path: `${basePath(config)}/`,
    httpOnly: true,
    sameSite: 'lax' as const,
    secure: isSecureRequest(request, config),
    maxAge: config.auth.session_max_age_seconds
  }
}

const createRoutes = (config: Config): Routes => async (app) => {
  async function openSession (request: FastifyRequest, reply: FastifyReply, name: string, password: string) {
    const { token, caller } = await app.sessions.signIn(request.em, name, password, request)
    const former = request.caller?.session_id
    if (former !== undefined && former !== null) await app.sessions.signOut(request.em, former)
    // From here on the answer is this caller's: a CSRF token of the new session goes out with it.
    request.caller = caller
    reply.setCookie(SESSION_COOKIE, token, sessionCookie(config, request))
    return null
  }

  async function closeSession (request: FastifyRequest, reply: FastifyReply) {
    const session = request.caller?.session_id
    if (session !== undefined && session !== null) await app.sessions.signOut(request.em, session)
    request.caller = null
    reply.clearCookie(SESSION_COOKIE, { path: `${basePath(config)}/` })
    return null
  }

  app.post('/api/login', {
    schema: {
      operationId: 'login', tags, summary: 'Open a browser session with Basic credentials', response: { 200: Type.Null() }
    },
    config: { public: true }
  }, async (request, reply) => {
    const basic = readBasic(request.headers.authorization)
    if (basic === null) throw new ApiError('NOT_AUTHENTICATED', 'Send a username and password by HTTP Basic')
    return await openSession(request, reply, basic.username, basic.password)
  })

  app.post('/api/auth/login', {
    schema: {
      operationId: 'loginWithForm',
      tags,
      summary: 'Open a browser session with a form',
      consumes: ['application/x-www-form-urlencoded'],
      body: Type.Object({ username: Type.String(), password: Type.String() }),
      response: { 200: Type.Null() }
    },
    config: { public: true }
  }, async (request, reply) => await openSession(request, reply, request.body.username, request.body.password))

  for (const [path, operationId] of [['/api/logout', 'logout'], ['/api/auth/logout', 'logoutAlias']] as const) {
    app.post(path, {
      schema: { operationId, tags, summary: 'End the browser session', response: { 200: Type.Null() } },
      config: { public: true }
    }, closeSession)
  }
}

export default createRoutes
