import { Type } from '@sinclair/typebox'
import { callerOf } from '../../../core/access/auth.ts'
import { ErrorSchema, IdParams, type Routes } from '../../../core/typebox.ts'
import { SessionSchema } from '../schemas.ts'
import { toSessionView } from '../views.ts'

const tags = ['sessions']

const sessionRoutes: Routes = async (app) => {
  app.get('/api/sessions', {
    schema: {
      operationId: 'listSessions', tags, summary: "List the caller's browser sessions", response: { 200: Type.Array(SessionSchema) }
    },
    config: { scopes: ['me.read'] }
  }, async (request) => {
    const caller = callerOf(request)
    return (await app.sessions.list(request.db, caller)).map((session) => toSessionView(session, caller.session_id))
  })

  app.delete('/api/sessions/:id', {
    schema: {
      operationId: 'revokeSession',
      tags,
      summary: "End one of the caller's sessions and disconnect its sockets",
      params: IdParams,
      response: { 200: Type.Null(), 404: ErrorSchema }
    },
    config: { scopes: ['me.write'], signedIn: true }
  }, async (request, reply) => {
    await app.sessions.revoke(request, reply, request.params.id)
    return null
  })

  app.delete('/api/sessions', {
    schema: {
      operationId: 'revokeSessions',
      tags,
      summary: "End the caller's other sessions and its OAuth2 sign-ins",
      querystring: Type.Object({
        include_current: Type.Boolean({ default: false, description: 'Also ends the session of this request' })
      }),
      response: { 200: Type.Null() }
    },
    config: { scopes: ['me.write'], signedIn: true }
  }, async (request, reply) => {
    await app.sessions.revokeAll(request, reply, request.query.include_current)
    return null
  })
}

export default sessionRoutes
